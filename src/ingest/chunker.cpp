#include "braid/ingest/chunker.hpp"

#include <algorithm>
#include <optional>

#include "braid/ingest/markdown.hpp"
#include "braid/text/utf8.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kLeastTokens = 16;  // for content, however long title and headings are

constexpr std::size_t kMostTokenBytes = 64;

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

/// Pieces of a text that follow one another without a gap.
using Pieces = std::vector<std::string_view>;

/// Cut after sentence ends that are followed by white space, and at line ends.
Pieces sentences(std::string_view text) {
    Pieces pieces;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool end = text[i] == '.' || text[i] == '!' || text[i] == '?' || text[i] == '\n';
        const bool wide_end = text.substr(i).starts_with("。") || text.substr(i).starts_with("？");
        if (!end && !wide_end) continue;
        std::size_t after = i + (wide_end ? 3 : 1);
        if (end && text[i] != '\n' && after < text.size() && !is_space(text[after])) continue;
        while (after < text.size() && is_space(text[after])) ++after;
        pieces.push_back(text.substr(begin, after - begin));
        begin = after;
        i = after - 1;
    }
    if (begin < text.size()) pieces.push_back(text.substr(begin));
    return pieces;
}

Pieces words(std::string_view text) {
    Pieces pieces;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!is_space(text[i]) || (i + 1 < text.size() && is_space(text[i + 1]))) continue;
        pieces.push_back(text.substr(begin, i + 1 - begin));
        begin = i + 1;
    }
    if (begin < text.size()) pieces.push_back(text.substr(begin));
    return pieces;
}

/// Collects the chunks of one document.
class Chunker {
public:
    Chunker(const std::string& document_id, const ChunkingOptions& options)
        : document_id_(document_id), options_(options) {}

    void add_section(const std::optional<std::string>& title,
                     const std::optional<std::string>& heading, const Pieces& blocks) {
        title_ = title;
        heading_ = heading;
        const std::size_t above = (title ? count(*title) : 0) + (heading ? count(*heading) : 0);
        budget_ =
            std::max(kLeastTokens, options_.max_tokens > above ? options_.max_tokens - above : 0);
        content_.clear();
        fresh_ = false;
        for (const std::string_view block : blocks) add_block(block);
        flush();
    }

    std::vector<Chunk> take() { return std::move(chunks_); }

private:
    std::size_t count(std::string_view text) const {
        return options_.count_tokens ? options_.count_tokens(text) : estimate_tokens(text);
    }

    bool fits(std::string_view separator, std::string_view piece) const {
        // No need to count what is surely too long; a token has far fewer bytes than this.
        if (piece.size() > budget_ * kMostTokenBytes) return false;
        return count(content_ + std::string(separator) + std::string(piece)) <= budget_;
    }

    void add_block(std::string_view block) {
        const std::string_view separator = content_.empty() ? "" : "\n\n";
        if (fits(separator, trimmed(block))) return append(separator, trimmed(block));
        if (fresh_ && block.size() <= budget_ * kMostTokenBytes &&
            count(trimmed(block)) <= budget_) {
            flush_with_overlap();
            const std::string_view again = content_.empty() ? "" : "\n\n";
            if (fits(again, trimmed(block))) return append(again, trimmed(block));
        }
        bool first = true;
        for (const std::string_view sentence : sentences(block)) {
            add_piece(first && !content_.empty() ? "\n\n" : "", sentence);
            first = false;
        }
    }

    /// A sentence, or what is left of one: whole if it fits anywhere, else by words, else by
    /// characters.
    void add_piece(std::string_view separator, std::string_view sentence) {
        if (fits(separator, trimmed(sentence))) return append(separator, sentence);
        if (fresh_) {
            flush_with_overlap();
            if (fits("", trimmed(sentence))) return append("", sentence);
            content_.clear();
            if (fits("", trimmed(sentence))) return append("", sentence);
        }
        for (const std::string_view word : words(sentence)) add_word(word);
    }

    void add_word(std::string_view word) {
        if (fits("", trimmed(word))) return append("", word);
        if (fresh_) {
            flush();
            content_.clear();
            if (fits("", trimmed(word))) return append("", word);
        }
        content_.clear();
        while (!word.empty()) {  // longer than a chunk: cut between characters
            std::size_t low = 1;
            std::size_t high = std::min(word.size(), budget_ * kMostTokenBytes);
            while (low < high) {
                const std::size_t middle = (low + high + 1) / 2;
                if (count(text::cut_at_most(word, middle)) <= budget_) {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            std::string_view head = text::cut_at_most(word, low);
            if (head.empty()) head = text::first_code_points(word, 1);
            append("", head);
            word.remove_prefix(head.size());
            if (!word.empty()) {
                flush();
                content_.clear();
            }
        }
    }

    void append(std::string_view separator, std::string_view piece) {
        if (piece.empty()) return;
        content_ += separator;
        content_ += piece;
        fresh_ = true;
    }

    /// Writes the chunk and begins the next one with the end of this one.
    void flush_with_overlap() {
        flush();
        const Pieces pieces = sentences(content_);
        std::size_t start = pieces.size();
        std::size_t tokens = 0;
        while (start > 0) {
            tokens += count(pieces[start - 1]);
            if (tokens > options_.overlap_tokens) break;
            --start;
        }
        std::string tail;
        if (start > 0 && start < pieces.size()) {
            const auto at = static_cast<std::size_t>(pieces[start].data() - content_.data());
            tail = trimmed(std::string_view(content_).substr(at));
        }
        if (!tail.empty()) tail += ' ';
        content_ = std::move(tail);
    }

    void flush() {
        const std::string_view content = trimmed(content_);
        if (!fresh_ || content.empty()) return;
        Chunk& chunk = chunks_.emplace_back();
        const std::size_t index = chunks_.size() - 1;
        chunk.chunk_id = document_id_ + "#" + std::to_string(index);
        chunk.document_id = document_id_;
        chunk.chunk_index = static_cast<std::int64_t>(index);
        chunk.content = content;
        chunk.title = title_;
        chunk.section_title = heading_;
        fresh_ = false;
    }

    const std::string& document_id_;
    const ChunkingOptions& options_;
    std::optional<std::string> title_;
    std::optional<std::string> heading_;
    std::size_t budget_ = 0;
    std::string content_;
    bool fresh_ = false;  // content_ holds more than the overlap
    std::vector<Chunk> chunks_;
};

}  // namespace

std::size_t estimate_tokens(std::string_view text) {
    // English prose has about four tokens for three words; scripts without spaces one a character.
    std::size_t words_seen = 0;
    std::size_t wide = 0;
    bool in_word = false;
    for (const char c : text) {
        const bool space = is_space(c);
        words_seen += !space && !in_word;
        in_word = !space;
        wide += (static_cast<unsigned char>(c) & 0xF0U) == 0xE0U;
    }
    return words_seen * 4 / 3 + wide + 1;
}

std::vector<Chunk> chunk_markdown(const std::string& document_id, std::string_view text,
                                  const ChunkingOptions& options) {
    Chunker chunker(document_id, options);
    const MarkdownDocument document = parse_markdown(text);
    for (const MarkdownSection& section : document.sections) {
        chunker.add_section(document.title, section.heading, section.blocks);
    }
    return chunker.take();
}

std::vector<Chunk> chunk_plain(const std::string& document_id, std::string_view title,
                               std::string_view text, const ChunkingOptions& options) {
    Chunker chunker(document_id, options);
    std::optional<std::string> own_title;
    if (!title.empty()) own_title = title;
    chunker.add_section(own_title, std::nullopt, split_paragraphs(text));
    return chunker.take();
}

}  // namespace braid::ingest
