#include "braid/embed/wordpiece.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <utf8proc.h>

#include "braid/core/utf8.hpp"
#include "braid/embed/bert_normalizer.hpp"
#include "braid/embed/character_classes.hpp"
#include "braid/embed/piece_table.hpp"
#include "braid/embed/tokenizer_file.hpp"

namespace braid::embed {
struct WordPiece::Tables {
    Tables(std::size_t pieces, std::size_t bytes)
        : whole(pieces, bytes), continuing(pieces, bytes) {}

    PieceTable whole;                         // pieces that begin a word
    PieceTable continuing;                    // the others, without their prefix
    std::vector<TokenizerFile::Token> added;  // longest first
    std::array<bool, 256> starts_added{};     // by first byte
    BertNormalizer normalizer;
    TokenId unknown = 0;
    TokenId begin = 0;
    TokenId end = 0;
    std::size_t max_word_characters = 0;
    TokenId largest_id = 0;

    const TokenizerFile::Token* added_at(std::string_view text, std::size_t at) const;
    void append_word(std::string_view word, std::size_t characters,
                     std::vector<std::int64_t>& ids) const;
    void append_words(std::string_view text, std::vector<std::int64_t>& ids) const;
};

const TokenizerFile::Token* WordPiece::Tables::added_at(std::string_view text,
                                                        std::size_t at) const {
    if (!starts_added[static_cast<unsigned char>(text[at])]) return nullptr;
    const std::string_view rest = text.substr(at);
    const auto found = std::find_if(added.begin(), added.end(), [&](const auto& token) {
        return rest.starts_with(token.first);
    });
    return found == added.end() ? nullptr : &*found;
}

void WordPiece::Tables::append_word(std::string_view word, std::size_t characters,
                                    std::vector<std::int64_t>& ids) const {
    if (characters > max_word_characters) {
        ids.push_back(unknown);
        return;
    }
    const std::size_t before = ids.size();
    for (std::size_t start = 0; start < word.size();) {
        const PieceTable::Match piece =
            (start == 0 ? whole : continuing).longest(word.substr(start));
        if (piece.id < 0) {
            ids.resize(before);
            ids.push_back(unknown);
            return;
        }
        ids.push_back(piece.id);
        start += piece.size;
    }
}

void WordPiece::Tables::append_words(std::string_view text, std::vector<std::int64_t>& ids) const {
    std::u32string characters;
    characters.reserve(text.size());
    normalizer.append(text, characters);
    std::string word;
    std::size_t word_characters = 0;
    const auto finish_word = [&] {
        if (word_characters == 0) return;
        append_word(word, word_characters, ids);
        word.clear();
        word_characters = 0;
    };
    for (const char32_t c : characters) {
        if (is_space(c)) {
            finish_word();
            continue;
        }
        const bool alone = is_punctuation(c);
        if (alone) finish_word();
        std::array<utf8proc_uint8_t, 4> bytes{};
        const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
        word.append(bytes.begin(), bytes.begin() + size);
        ++word_characters;
        if (alone) finish_word();
    }
    finish_word();
}

WordPiece::WordPiece(std::unique_ptr<const Tables> tables) noexcept : tables_(std::move(tables)) {}
WordPiece::~WordPiece() = default;
WordPiece::WordPiece(WordPiece&&) noexcept = default;
WordPiece& WordPiece::operator=(WordPiece&&) noexcept = default;

Result<WordPiece> WordPiece::parse(std::string_view tokenizer_json) {
    BRAID_TRY(TokenizerFile file, parse_tokenizer_file(tokenizer_json));
    std::size_t bytes = 0;
    for (const auto& [piece, id] : file.vocabulary) bytes += piece.size();
    auto tables = std::make_unique<Tables>(file.vocabulary.size(), bytes);
    tables->normalizer = {.clean_text = file.clean_text,
                          .space_chinese = file.space_chinese,
                          .strip_accents = file.strip_accents,
                          .lowercase = file.lowercase};
    tables->unknown = file.unknown;
    tables->begin = file.begin;
    tables->end = file.end;
    tables->max_word_characters = file.max_word_characters;
    for (const auto* list : {&file.vocabulary, &file.added}) {
        for (const auto& [token, id] : *list) tables->largest_id = std::max(tables->largest_id, id);
    }
    for (const auto& [piece, id] : file.vocabulary) {
        // A piece that starts with the prefix may also begin a word: the word "##s" is one piece.
        if (piece.starts_with(file.continuation_prefix)) {
            tables->continuing.insert(
                std::string_view(piece).substr(file.continuation_prefix.size()), id);
        }
        if (!tables->whole.insert(piece, id)) {
            return invalid_argument("tokenizer.json: model.vocab repeats a token");
        }
    }
    tables->added = std::move(file.added);
    std::stable_sort(tables->added.begin(), tables->added.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    for (const auto& [content, id] : tables->added) {
        tables->starts_added[static_cast<unsigned char>(content.front())] = true;
    }
    return WordPiece(std::move(tables));
}

Result<TokenizedText> WordPiece::encode(std::string_view text, std::size_t limit) const {
    if (const std::size_t bad = core::find_invalid_utf8(text); bad != std::string_view::npos) {
        return invalid_argument("cannot embed a text that is not UTF-8 (at byte " +
                                std::to_string(bad) + ")");
    }
    TokenizedText result;
    std::vector<std::int64_t>& ids = result.ids;
    ids.push_back(tables_->begin);
    std::size_t from = 0;
    for (std::size_t at = 0; at < text.size();) {
        const TokenizerFile::Token* const token = tables_->added_at(text, at);
        if (token == nullptr) {
            ++at;
            continue;
        }
        tables_->append_words(text.substr(from, at - from), ids);
        ids.push_back(token->second);
        at += token->first.size();
        from = at;
    }
    tables_->append_words(text.substr(from), ids);
    result.tokens = ids.size() + 1;
    result.truncated = result.tokens > limit;
    if (result.truncated) ids.resize(limit - 1);
    ids.push_back(tables_->end);
    return result;
}

std::int64_t WordPiece::largest_id() const noexcept {
    return tables_->largest_id;
}

}  // namespace braid::embed
