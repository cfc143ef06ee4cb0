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

/// The limit for a title or one heading: every chunk below repeats them, so a longer one is cut, or
/// becomes text.
inline constexpr std::size_t kMostHeadingBytes = 500;
/// Of all headings above a section: the outer ones are left out.
inline constexpr std::size_t kMostPathBytes = 2 * kMostHeadingBytes;
/// The limit for a note about a document, which every chunk repeats too.
inline constexpr std::size_t kMostNoteBytes = 4000;
inline constexpr std::string_view kHeadingSeparator = " > ";

/// A stretch of a document's text that belongs together: a paragraph, a list, fenced code, a table,
/// a record, a definition in source code.
struct Block {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::uint64_t line = 0;  // of the source, from 1; 0: unknown, or to be counted in the text
};

/// The text between two headings.
struct Section {
    std::optional<std::string> heading;  // headings above it, joined by " > "
    std::vector<Block> blocks;
    std::uint64_t page = 0;  // from 1; 0: the source has no pages
};

/// What a file holds, whatever its format.
struct SourceDocument {
    std::string text;       // UTF-8
    bool verbatim = false;  // positions in the text are positions in the source
    std::optional<std::string> title;
    std::optional<Timestamp> created_at;  // the date the source gives itself
    Object metadata;                      // author, tags, language, and the like
    std::vector<Section> sections;

    std::string_view text_of(const Block& block) const {
        return std::string_view(text).substr(block.begin, block.end - block.begin);
    }
};

/// Lines that could not be read, of a source that could.
struct FailedLines {
    std::uint64_t count = 0;
    std::vector<std::string> first;  // some of them: "7: why"

    /// One line for each of `first`, and one for the rest: "FILE:7: why".
    std::vector<std::string> as_warnings(const std::string& file) const;
};

/// Puts a document together from headings and blocks, in order.
class DocumentBuilder {
public:
    /// The first title stays; an empty one does not count. What is cut from a long one is text,
    /// too.
    void set_title(std::string_view title);
    bool has_title() const noexcept { return document_.title.has_value(); }
    /// Opens a section; a text of more than kMostHeadingBytes becomes a block instead. The first
    /// heading of level 1 is the title if there is none yet. A heading with neither blocks nor
    /// headings below it becomes a block itself, so that it can be found.
    void heading(std::size_t level, std::string_view text);
    void page(std::uint64_t number);
    /// Surrounding white space is dropped; nothing is added if nothing is left.
    void block(std::string_view text, std::uint64_t line = 0);

    Object& metadata() noexcept { return document_.metadata; }
    /// Records a text under a key, unless it is empty.
    void note(std::string_view key, std::string_view value);
    /// A date in one of the forms used by front matter, mails and web pages; other texts are kept
    /// as metadata.
    void date(std::string_view value);
    std::size_t size() const noexcept { return document_.text.size(); }

    SourceDocument take();

private:
    void add_bare_heading();

    SourceDocument document_;
    std::vector<std::pair<std::size_t, std::string>> path_;  // headings above, with their levels
    bool open_ = false;                                      // the last section still takes blocks
    std::optional<std::pair<std::size_t, std::string>> bare_;  // last heading, nothing below it
    std::uint64_t page_ = 0;
};

/// Adds a heading to those above it.
void join_heading(std::string& path, std::string_view heading);

/// What is cut from metadata so that the chunks of a document, which all repeat it, stay in
/// proportion to its text: the longest texts first, then lists and objects. Says which keys.
std::vector<std::string> bound_metadata(SourceDocument& document);

/// "2024-05-01", "2024-05-01 12:30:00", RFC 3339, and the date format of mails.
std::optional<Timestamp> parse_date(std::string_view text);

/// Without white space at either end.
std::string_view trimmed(std::string_view text);
/// Runs of white space of any kind become one space; none remains at either end.
std::string squeezed(std::string_view text);
/// ASCII letters in lower case.
std::string lower_ascii(std::string_view text);

}  // namespace braid::ingest
