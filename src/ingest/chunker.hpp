#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/ingest/source_document.hpp"

namespace braid::ingest {

/// Where a document is cut. Structure: between blocks where possible, with a heading above and
/// whatever introduces a block beside it. Sentences: between sentences, whichever blocks they
/// belong to. Fixed: windows of words, ignoring structure; for comparison.
enum class ChunkingMethod : std::uint8_t { Structure, Sentences, Fixed };

struct ChunkingOptions {
    ChunkingMethod method = ChunkingMethod::Structure;
    /// Tokens of one chunk including title and section: what the embedder reads.
    std::size_t max_tokens = 256;
    /// Tokens of the previous chunk repeated at the start of the next, within a section.
    std::size_t overlap_tokens = 32;
    /// Counts as the embedder does. None: an estimate from the number of words.
    std::function<std::size_t(std::string_view)> count_tokens;
};

/// Metadata of a chunk: where in its source it is, as far as the source's format tells. Lines and
/// pages count from 1; offsets are bytes of the source's text in UTF-8.
inline constexpr std::string_view kLineKey = "source_line";
inline constexpr std::string_view kEndLineKey = "source_end_line";
inline constexpr std::string_view kPageKey = "source_page";
inline constexpr std::string_view kOffsetKey = "source_offset";
inline constexpr std::string_view kEndOffsetKey = "source_end_offset";

/// Cuts a document into chunks: preferably between sections, then between blocks, sentences or
/// words, and never inside a character. A block that introduces the next one (a line ending with
/// ":", a term, the name of an option) stays with it if both fit. `section_title` holds the
/// headings above a chunk. Ids are "<document_id>#<index>".
std::vector<Chunk> chunk_document(const std::string& document_id, const SourceDocument& document,
                                  const ChunkingOptions& options);

/// The same for a Markdown text (markdown.hpp).
std::vector<Chunk> chunk_markdown(const std::string& document_id, std::string_view text,
                                  const ChunkingOptions& options);

/// The same for a text without headings; `title` stands in for the missing one.
std::vector<Chunk> chunk_plain(const std::string& document_id, std::string_view title,
                               std::string_view text, const ChunkingOptions& options);

/// The approximate number of words: used where no embedder says how it counts.
std::size_t estimate_tokens(std::string_view text);

}  // namespace braid::ingest
