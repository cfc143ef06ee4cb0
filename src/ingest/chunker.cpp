#include "braid/ingest/chunker.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "braid/core/utf8.hpp"
#include "braid/ingest/markdown.hpp"
#include "braid/text/graphemes.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kLeastTokens = 16;  // left for content, however long title and headings are
/// A title may take so many tokens, or half of a chunk; headings what it leaves of that, or half.
constexpr std::size_t kTokensAbove = 96;

constexpr std::size_t kMostTokenBytes = 64;
constexpr std::size_t kMostIntroduced = 8;  // blocks in a row that may introduce the next

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Where the lines of a text begin.
class LineStarts {
public:
    explicit LineStarts(std::string_view text) {
        starts_.push_back(0);
        for (std::size_t at = text.find('\n'); at != std::string_view::npos;
             at = text.find('\n', at + 1)) {
            starts_.push_back(at + 1);
        }
    }
    /// From 1.
    std::uint64_t line_of(std::size_t at) const {
        return static_cast<std::uint64_t>(std::ranges::upper_bound(starts_, at) - starts_.begin());
    }

private:
    std::vector<std::size_t> starts_;
};

/// Whether a block only makes sense together with the next: "The options are:", a term before its
/// definition, the name of an option.
bool introduces(std::string_view block) {
    block = trimmed(block);
    if (block.empty() || block.size() > 200) return false;
    if (block.back() == ':') return true;
    if (block.find('\n') != std::string_view::npos || block.size() > 80) return false;
    const char last = block.back();
    const bool option = block.size() > 1 && block[0] == '-' && block[1] != ' ';
    return option || (last != '.' && last != '!' && last != '?' && last != '|' && last != ';' &&
                      last != '}' && static_cast<unsigned char>(last) < 0x80);
}

/// Contiguous pieces of a text.
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
    Chunker(const std::string& document_id, const SourceDocument& document,
            const ChunkingOptions& options)
        : document_id_(document_id),
          document_(document),
          options_(options),
          lines_(document.verbatim ? std::string_view(document.text) : std::string_view()),
          nothing_(count("")),
          most_above_(std::max(kTokensAbove, options.max_tokens / 2)),
          title_(document.title),
          title_tokens_(title_ ? shorten(*title_, most_above_) : 0) {}

    void add(const Section& section) {
        section_ = &section;
        heading_ = section.heading;
        std::size_t above = title_tokens_;
        if (heading_) {
            const std::size_t left = most_above_ - std::min(title_tokens_, most_above_ / 2);
            above += shorten_path(*heading_, left);
        }
        budget_ =
            std::max(kLeastTokens, options_.max_tokens > above ? options_.max_tokens - above : 0);
        set_content({});
        fresh_ = false;
        if (options_.method == ChunkingMethod::Structure) {
            for (std::size_t i = 0; i < section.blocks.size();) i += add_from(i);
        } else {
            for (const Block& block : section.blocks) add_flat(block);
        }
        flush();
    }

    std::vector<Chunk> take() { return std::move(chunks_); }

private:
    std::size_t count(std::string_view text) const {
        return options_.count_tokens ? options_.count_tokens(text) : estimate_tokens(text);
    }

    /// Cuts a text that has more than so many tokens, and says how many are left.
    std::size_t shorten(std::string& text, std::size_t most) const {
        std::size_t tokens = count(text);
        while (tokens > most && !text.empty()) {
            const std::size_t bytes = std::min(text.size() * most / tokens, text.size() - 1);
            text.resize(text::cut_at_grapheme(text, bytes).size());
            tokens = count(text);
        }
        return tokens;
    }

    /// The same for headings, of which the outer ones go first.
    std::size_t shorten_path(std::string& path, std::size_t most) const {
        std::size_t tokens = count(path);
        for (std::size_t end = path.find(kHeadingSeparator);
             tokens > most && end != std::string::npos; end = path.find(kHeadingSeparator)) {
            path.erase(0, end + kHeadingSeparator.size());
            tokens = count(path);
        }
        return tokens > most ? shorten(path, most) : tokens;
    }

    bool fits(std::string_view separator, std::string_view piece) {
        // No need to count what is obviously too long: a token has far fewer bytes than this.
        if (piece.size() > budget_ * kMostTokenBytes) return false;
        const std::size_t sum = content_tokens_ + count_piece(piece);
        if (sum + doubt_ < budget_) return true;
        if (sum > budget_ + doubt_ + 1) return false;
        const std::size_t whole = count(content_ + std::string(separator) + std::string(piece));
        content_tokens_ = whole - std::min(whole, count_piece(piece));
        doubt_ = 1;
        return whole <= budget_;
    }

    /// Tokens that a piece adds to what precedes it. The last answer is remembered, because it is
    /// asked for again.
    std::size_t count_piece(std::string_view piece) {
        if (piece.data() != counted_.data() || piece.size() != counted_.size()) {
            const std::size_t tokens = count(piece);
            counted_ = piece;
            counted_tokens_ = tokens - std::min(tokens, nothing_);
        }
        return counted_tokens_;
    }

    void set_content(std::string content) {
        content_ = std::move(content);
        content_tokens_ = count(content_);
        doubt_ = 1;
    }

    /// The block, together with the blocks it introduces if they fit. Says how many those are.
    std::size_t add_from(std::size_t at) {
        const auto& blocks = section_->blocks;
        std::size_t last = at;
        while (last + 1 < blocks.size() && last - at < kMostIntroduced &&
               introduces(document_.text_of(blocks[last])) &&
               fits_alone(between(blocks[at], blocks[last + 1]))) {
            ++last;
        }
        // One that introduces something that no longer fits goes with that instead.
        if (last > at && last + 1 < blocks.size() && introduces(document_.text_of(blocks[last])) &&
            fits_alone(between(blocks[last], blocks[last + 1]))) {
            --last;
        }
        line_ = blocks[at].line;
        add_block(between(blocks[at], blocks[last]));
        return last + 1 - at;
    }

    /// Split by sentences or words, however they are grouped.
    void add_flat(const Block& block) {
        line_ = block.line;
        const std::string_view text = document_.text_of(block);
        std::string_view separator = content_.empty() ? "" : "\n\n";
        const bool fixed = options_.method == ChunkingMethod::Fixed;
        for (const std::string_view piece : fixed ? words(text) : sentences(text)) {
            if (fixed && fresh_ && !fits(separator, trimmed(piece))) flush_with_overlap();
            add_piece(content_.empty() ? "" : separator, piece);
            separator = "";
        }
    }

    std::string_view between(const Block& first, const Block& last) const {
        return std::string_view(document_.text).substr(first.begin, last.end - first.begin);
    }

    bool fits_alone(std::string_view text) const {
        return text.size() <= budget_ * kMostTokenBytes && count(trimmed(text)) <= budget_;
    }

    void add_block(std::string_view block) {
        const std::string_view separator = content_.empty() ? "" : "\n\n";
        if (fits(separator, trimmed(block))) return append(separator, trimmed(block));
        if (fresh_ && fits_alone(block)) {
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

    /// A sentence, or what is left of one: whole if it fits anywhere, otherwise split by words, or
    /// by characters.
    void add_piece(std::string_view separator, std::string_view sentence) {
        if (fits(separator, trimmed(sentence))) return append(separator, sentence);
        if (fresh_) {
            flush_with_overlap();
            if (fits("", trimmed(sentence))) return append("", sentence);
            set_content({});
            if (fits("", trimmed(sentence))) return append("", sentence);
        }
        for (const std::string_view word : words(sentence)) add_word(word);
    }

    void add_word(std::string_view word) {
        if (fits("", trimmed(word))) return append("", word);
        if (fresh_) {
            flush();
            set_content({});
            if (fits("", trimmed(word))) return append("", word);
        }
        set_content({});
        while (!word.empty()) {  // longer than a chunk: cut between characters
            std::size_t low = 1;
            std::size_t high = std::min(word.size(), budget_ * kMostTokenBytes);
            while (low < high) {
                const std::size_t middle = (low + high + 1) / 2;
                if (count(core::cut_at_most(word, middle)) <= budget_) {
                    low = middle;
                } else {
                    high = middle - 1;
                }
            }
            std::string_view head = text::cut_at_grapheme(word, low);
            if (head.empty()) head = core::first_code_points(word, 1);
            append("", head);
            word.remove_prefix(head.size());
            if (!word.empty()) {
                flush();
                set_content({});
            }
        }
    }

    void append(std::string_view separator, std::string_view piece) {
        if (piece.empty()) return;
        const auto at = static_cast<std::size_t>(piece.data() - document_.text.data());
        if (!fresh_) {
            begin_ = at;
            first_line_ = line_;
        }
        end_ = at + piece.size();
        last_line_ = line_;
        content_ += separator;
        content_ += piece;
        content_tokens_ += count_piece(piece);
        ++doubt_;
        fresh_ = true;
    }

    /// Writes the chunk and begins the next one with the end of this one.
    void flush_with_overlap() {
        flush();
        const Pieces pieces =
            options_.method == ChunkingMethod::Fixed ? words(content_) : sentences(content_);
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
        set_content(std::move(tail));
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
        chunk.created_at = document_.created_at;
        chunk.metadata = document_.metadata;
        note_place(chunk.metadata);
        fresh_ = false;
    }

    /// Where in the source the chunk is, not counting the repeated part at its start.
    void note_place(Object& metadata) const {
        if (section_->page > 0) metadata.set(kPageKey, section_->page);
        if (document_.verbatim) {
            const std::string_view all = document_.text;
            const std::size_t end = begin_ + trimmed(all.substr(begin_, end_ - begin_)).size();
            metadata.set(kLineKey, lines_.line_of(begin_));
            metadata.set(kEndLineKey, lines_.line_of(std::max(begin_ + 1, end) - 1));
            metadata.set(kOffsetKey, begin_);
            metadata.set(kEndOffsetKey, end);
        } else if (first_line_ > 0) {
            metadata.set(kLineKey, first_line_);
            metadata.set(kEndLineKey, std::max(first_line_, last_line_));
        }
    }

    const std::string& document_id_;
    const SourceDocument& document_;
    const ChunkingOptions& options_;
    LineStarts lines_;
    const Section* section_ = nullptr;
    std::size_t budget_ = 0;
    std::uint64_t line_ = 0;  // of the block being added
    std::size_t begin_ = 0;   // of the new content, in the document's text
    std::size_t end_ = 0;
    std::uint64_t first_line_ = 0;
    std::uint64_t last_line_ = 0;
    std::string content_;
    std::size_t content_tokens_ = 0;  // summed piece by piece, each off by at most one (doubt_)
    std::size_t doubt_ = 1;
    std::size_t nothing_;     // tokens of an empty text: every text has them
    std::size_t most_above_;  // tokens of the title
    std::optional<std::string> title_;
    std::size_t title_tokens_;
    std::optional<std::string> heading_;  // of the section
    std::string_view counted_;
    std::size_t counted_tokens_ = 0;
    bool fresh_ = false;  // content_ holds more than just the overlap
    std::vector<Chunk> chunks_;
};

}  // namespace

std::size_t estimate_tokens(std::string_view text) {
    // English prose has about four tokens for three words; scripts without spaces have one per
    // character.
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

std::vector<Chunk> chunk_document(const std::string& document_id, const SourceDocument& document,
                                  const ChunkingOptions& options) {
    Chunker chunker(document_id, document, options);
    for (const Section& section : document.sections) chunker.add(section);
    return chunker.take();
}

std::vector<Chunk> chunk_markdown(const std::string& document_id, std::string_view text,
                                  const ChunkingOptions& options) {
    return chunk_document(document_id, parse_markdown(text), options);
}

std::vector<Chunk> chunk_plain(const std::string& document_id, std::string_view title,
                               std::string_view text, const ChunkingOptions& options) {
    SourceDocument document = parse_plain(text);
    if (!title.empty()) document.title = title;
    return chunk_document(document_id, document, options);
}

}  // namespace braid::ingest
