#include "braid/embed/tokenizer_file.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <system_error>

#include "braid/core/utf8.hpp"
#include "braid/json/json.hpp"
#include "braid/value.hpp"

namespace braid::embed {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20U;

tl::unexpected<Error> damaged(std::string_view what) {
    return invalid_argument("tokenizer.json: " + std::string(what));
}

tl::unexpected<Error> unsupported(std::string_view what) {
    return fail(ErrorCode::Unsupported, "tokenizer.json: " + std::string(what));
}

/// The position after the string literal that opens at `at`; npos if it does not end.
std::size_t skip_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size(); ++at) {
        if (text[at] == '\\') {
            ++at;
        } else if (text[at] == '"') {
            return at + 1;
        }
    }
    return std::string_view::npos;
}

struct Span {
    std::size_t first;  // of the opening brace
    std::size_t size;
};

/// Where the object model.vocab is. Looks at nesting and names only: the JSON parser checks the
/// rest.
std::optional<Span> find_vocabulary(std::string_view text) {
    std::size_t depth = 0;
    std::string_view name;   // the last string literal seen
    std::string_view outer;  // the root member being read
    std::optional<std::size_t> first;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"') {
            const std::size_t end = skip_string(text, at);
            if (end == std::string_view::npos) return std::nullopt;
            name = text.substr(at + 1, end - at - 2);
            at = end;
            continue;
        }
        if (c == '{' || c == '[') {
            if (depth == 1) outer = name;
            if (depth == 2 && c == '{' && outer == "model" && name == "vocab") first = at;
            ++depth;
        } else if (c == '}' || c == ']') {
            if (depth == 0) return std::nullopt;
            --depth;
            if (first && depth == 2) return Span{*first, at + 1 - *first};
        }
        ++at;
    }
    return std::nullopt;
}

tl::unexpected<Error> bad_id() {
    return damaged("a token's id is not a small whole number");
}

Result<TokenId> token_id(const Value* value) {
    if (value == nullptr || !value->is_int() || value->as_int() < 0 ||
        value->as_int() >= std::numeric_limits<TokenId>::max()) {
        return bad_id();
    }
    return static_cast<TokenId>(value->as_int());
}

/// Reads {"a":1,"b":2} member by member. As a Value it would take longer than the rest of a model's
/// start.
class VocabularyReader {
public:
    explicit VocabularyReader(std::string_view object) : rest_(object) {}

    Result<std::vector<TokenizerFile::Token>> read() {
        std::vector<TokenizerFile::Token> vocabulary;
        vocabulary.reserve(rest_.size() / 16);
        if (!take('{')) return no_vocabulary();
        if (take('}')) return vocabulary;
        do {
            BRAID_TRY(std::string token, read_string());
            if (!take(':')) return no_vocabulary();
            BRAID_TRY(const TokenId id, read_id());
            vocabulary.emplace_back(std::move(token), id);
        } while (take(','));
        if (!take('}') || !rest_.empty()) return no_vocabulary();
        return vocabulary;
    }

private:
    static tl::unexpected<Error> no_vocabulary() {
        return damaged("model.vocab is not an object of ids by token");
    }

    void skip_space() {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size()));
    }

    /// White space before it is passed over.
    bool take(char wanted) {
        skip_space();
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }

    Result<std::string> read_string() {
        if (!take('"')) return no_vocabulary();
        const auto end = std::ranges::find_if(rest_, [](char c) {
            return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
        });
        const auto size = static_cast<std::size_t>(end - rest_.begin());
        if (end != rest_.end() && *end == '"') {
            std::string plain(rest_.substr(0, size));
            rest_.remove_prefix(size + 1);
            return plain;
        }
        const std::string_view literal(rest_.data() - 1, rest_.size() + 1);  // contains escapes
        const std::size_t stop = skip_string(literal, 0);
        if (stop == std::string_view::npos) return no_vocabulary();
        BRAID_TRY(Value text, json::parse(literal.substr(0, stop)));
        rest_.remove_prefix(stop - 1);
        return std::move(text.as_string());
    }

    Result<TokenId> read_id() {
        skip_space();
        const std::string_view number = rest_.substr(0, rest_.find_first_not_of("0123456789"));
        rest_.remove_prefix(number.size());
        TokenId id = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), id);
        const bool padded = number.size() > 1 && number.front() == '0';
        if (number.empty() || padded || error != std::errc() ||
            id == std::numeric_limits<TokenId>::max()) {
            return bad_id();
        }
        return id;
    }

    std::string_view rest_;
};

Result<std::vector<TokenizerFile::Token>> parse_vocabulary(std::string_view object) {
    BRAID_CHECK(core::require_utf8(object, "model.vocab"));
    return VocabularyReader(object).read();
}

std::string type_of(const Value* part) {
    const Value* const type = part == nullptr ? nullptr : part->find("type");
    return type != nullptr && type->is_string() ? type->as_string() : "none";
}

Result<> expect_type(const Value& root, std::string_view part, std::string_view wanted) {
    if (const std::string found = type_of(root.find(part)); found != wanted) {
        return unsupported(std::string(part) + " is " + found + ", expected " +
                           std::string(wanted));
    }
    return {};
}

Result<bool> flag(const Value& part, std::string_view name, bool fallback) {
    const Value* const value = part.find(name);
    if (value == nullptr || value->is_null()) return fallback;
    if (!value->is_bool()) return damaged(std::string(name) + " is not true, false or null");
    return value->as_bool();
}

Result<> read_normalizer(const Value& root, TokenizerFile& file) {
    BRAID_CHECK(expect_type(root, "normalizer", "BertNormalizer"));
    const Value& part = *root.find("normalizer");
    BRAID_TRY(file.clean_text, flag(part, "clean_text", true));
    BRAID_TRY(file.space_chinese, flag(part, "handle_chinese_chars", true));
    BRAID_TRY(file.lowercase, flag(part, "lowercase", true));
    BRAID_TRY(file.strip_accents, flag(part, "strip_accents", file.lowercase));
    return {};
}

Result<> read_added_tokens(const Value& root, TokenizerFile& file) {
    const Value* const added = root.find("added_tokens");
    if (added == nullptr || added->is_null()) return {};
    if (!added->is_array()) return damaged("added_tokens is not a list");
    for (const Value& token : added->as_array()) {
        const Value* const content = token.find("content");
        if (content == nullptr || !content->is_string() || content->as_string().empty()) {
            return damaged("an added token has no content");
        }
        for (const std::string_view name : {"single_word", "lstrip", "rstrip", "normalized"}) {
            BRAID_TRY(const bool set, flag(token, name, false));
            if (set) {
                return unsupported("added token '" + content->as_string() + "' is " +
                                   std::string(name));
            }
        }
        BRAID_TRY(const TokenId id, token_id(token.find("id")));
        file.added.emplace_back(content->as_string(), id);
    }
    return {};
}

Result<> read_model(const Value& root, TokenizerFile& file, std::string& unknown) {
    BRAID_CHECK(expect_type(root, "model", "WordPiece"));
    const Value& model = *root.find("model");
    const Value* const prefix = model.find("continuing_subword_prefix");
    const Value* const unknown_token = model.find("unk_token");
    const Value* const longest = model.find("max_input_chars_per_word");
    if (prefix == nullptr || !prefix->is_string()) {
        return damaged("model.continuing_subword_prefix is missing");
    }
    if (unknown_token == nullptr || !unknown_token->is_string()) {
        return damaged("model.unk_token is missing");
    }
    if (longest == nullptr || !longest->is_int() || longest->as_int() < 1 ||
        longest->as_int() > 100'000) {
        return damaged("model.max_input_chars_per_word is missing or not between 1 and 100000");
    }
    file.continuation_prefix = prefix->as_string();
    file.max_word_characters = static_cast<std::size_t>(longest->as_int());
    unknown = unknown_token->as_string();
    return {};
}

/// The names of the tokens put before and after a single text.
Result<std::pair<std::string, std::string>> read_template(const Value& root) {
    const Value* const part = root.find("post_processor");
    const std::string type = type_of(part);
    if (type == "BertProcessing") {
        const Value* const begin = part->find("cls");
        const Value* const end = part->find("sep");
        for (const Value* token : {begin, end}) {
            if (token == nullptr || !token->is_array() || token->as_array().empty() ||
                !token->as_array()[0].is_string()) {
                return damaged("post_processor lacks cls or sep");
            }
        }
        return std::pair(begin->as_array()[0].as_string(), end->as_array()[0].as_string());
    }
    if (type != "TemplateProcessing") {
        return unsupported("post_processor is " + type +
                           ", expected TemplateProcessing or BertProcessing");
    }
    const Value* const single = part->find("single");
    if (single == nullptr || !single->is_array()) return damaged("post_processor lacks 'single'");
    const Array& pieces = single->as_array();
    const auto special = [&](std::size_t i) -> const Value* {
        const Value* const token = i < pieces.size() ? pieces[i].find("SpecialToken") : nullptr;
        return token == nullptr ? nullptr : token->find("id");
    };
    if (pieces.size() != 3 || special(0) == nullptr || pieces[1].find("Sequence") == nullptr ||
        special(2) == nullptr || !special(0)->is_string() || !special(2)->is_string()) {
        return unsupported("post_processor is not: one token, the text, one token");
    }
    return std::pair(special(0)->as_string(), special(2)->as_string());
}

Result<TokenId> id_of(const TokenizerFile& file, std::string_view token) {
    for (const auto* list : {&file.added, &file.vocabulary}) {
        const auto found = std::find_if(list->begin(), list->end(),
                                        [&](const auto& entry) { return entry.first == token; });
        if (found != list->end()) return found->second;
    }
    return damaged("token '" + std::string(token) + "' is not in the vocabulary");
}

}  // namespace

Result<TokenizerFile> parse_tokenizer_file(std::string_view json) {
    if (json.size() > kMaxFileBytes) return damaged("larger than 64 MiB");
    const std::optional<Span> vocabulary = find_vocabulary(json);
    if (!vocabulary) return damaged("no object model.vocab, or the file is cut short");

    std::string rest(json.substr(0, vocabulary->first));
    rest += "{}";
    rest += json.substr(vocabulary->first + vocabulary->size);
    auto parsed = json::parse(rest);
    if (!parsed) return fail("tokenizer.json", std::move(parsed).error());

    TokenizerFile file;
    std::string unknown;
    BRAID_CHECK(read_model(*parsed, file, unknown));
    BRAID_CHECK(expect_type(*parsed, "pre_tokenizer", "BertPreTokenizer"));
    BRAID_CHECK(read_normalizer(*parsed, file));
    BRAID_CHECK(read_added_tokens(*parsed, file));
    BRAID_TRY(const auto markers, read_template(*parsed));

    auto tokens = parse_vocabulary(json.substr(vocabulary->first, vocabulary->size));
    if (!tokens) return fail("tokenizer.json, model.vocab", std::move(tokens).error());
    file.vocabulary = *std::move(tokens);
    BRAID_TRY(file.unknown, id_of(file, unknown));
    BRAID_TRY(file.begin, id_of(file, markers.first));
    BRAID_TRY(file.end, id_of(file, markers.second));
    return file;
}

}  // namespace braid::embed
