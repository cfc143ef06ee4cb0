#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::ingest {

/// Of a title or one heading: every chunk below repeats them, so that a longer one is cut, or text.
inline constexpr std::size_t kMostHeadingBytes = 500;
/// Of a note about a document, which every chunk repeats, too.
inline constexpr std::size_t kMostNoteBytes = 4000;

/// A stretch of a document's text that belongs together: a paragraph, a list, fenced code, a table,
/// a record, a definition in source code.
struct Block {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::uint64_t line = 0;  // of the source, from 1; 0: unknown, or to be counted in the text
};

/// The text between two headings.
struct Section {
    std::optional<std::string> heading;  // those above it, below the title, joined by " > "
    std::vector<Block> blocks;
    std::uint64_t page = 0;  // from 1; 0: the source has none
};

/// What a file holds, whatever its format.
struct SourceDocument {
    std::string text;       // UTF-8
    bool verbatim = false;  // the text is the source's own: places in it are places in the source
    std::optional<std::string> title;
    std::optional<Timestamp> created_at;  // the date the source gives itself
    Object metadata;                      // author, tags, language, and the like
    std::vector<Section> sections;

    std::string_view text_of(const Block& block) const {
        return std::string_view(text).substr(block.begin, block.end - block.begin);
    }
};

/// Lines of a source that could not be read, where the others could.
struct FailedLines {
    std::uint64_t count = 0;
    std::vector<std::string> first;  // some of them: "7: why"

    /// One for each of `first`, and one for those that are not: "FILE:7: why".
    std::vector<std::string> as_warnings(const std::string& file) const;
};

/// Puts a document together from headings and blocks, in their order.
class DocumentBuilder {
public:
    /// The first title stays; an empty one is none.
    void set_title(std::string_view title);
    bool has_title() const noexcept { return document_.title.has_value(); }
    /// Opens a section; a text of more than kMostHeadingBytes is a block instead. The first heading
    /// of level 1 is the title, if there is none yet. One with neither blocks nor headings below it
    /// is a block itself, so that it can be found.
    void heading(std::size_t level, std::string_view text);
    void page(std::uint64_t number);
    /// White space around it is dropped; nothing is added if nothing is left.
    void block(std::string_view text, std::uint64_t line = 0);

    Object& metadata() noexcept { return document_.metadata; }
    /// Notes a text under a key, unless it is empty.
    void note(std::string_view key, std::string_view value);
    /// A date as front matter, mails and web pages write it; others are kept as metadata.
    void date(std::string_view value);
    std::size_t size() const noexcept { return document_.text.size(); }

    SourceDocument take();

private:
    void add_bare_heading();

    SourceDocument document_;
    std::vector<std::pair<std::size_t, std::string>> path_;    // headings above, with their levels
    bool open_ = false;                                        // the last section takes blocks
    std::optional<std::pair<std::size_t, std::string>> bare_;  // the last heading: nothing below it
    std::uint64_t page_ = 0;
};

/// "2024-05-01", "2024-05-01 12:30:00", RFC 3339, and the date of a mail.
std::optional<Timestamp> parse_date(std::string_view text);

/// Without white space at either end.
std::string_view trimmed(std::string_view text);
/// White space of any kind and length as one space, none at either end.
std::string squeezed(std::string_view text);
/// ASCII letters in lower case.
std::string lower_ascii(std::string_view text);

}  // namespace braid::ingest
