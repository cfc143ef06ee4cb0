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

/// Where a document is cut. Structure: between blocks where it can be, with a heading above and
/// what introduces a block beside it. Sentences: between sentences, whatever blocks they are of.
/// Fixed: windows of words, whatever the structure; for comparison.
enum class ChunkingMethod : std::uint8_t { Structure, Sentences, Fixed };

struct ChunkingOptions {
    ChunkingMethod method = ChunkingMethod::Structure;
    /// Tokens of one chunk, title and section included: what the embedder reads.
    std::size_t max_tokens = 256;
    /// Tokens of the chunk before that are repeated at the start of one, within a section.
    std::size_t overlap_tokens = 32;
    /// Counts as the embedder does. None: an estimate from the number of words.
    std::function<std::size_t(std::string_view)> count_tokens;
};

/// Metadata of a chunk: where in its source it stands, as far as the source's format tells. Lines
/// and pages count from 1, offsets are bytes of the source's text in UTF-8.
inline constexpr std::string_view kLineKey = "source_line";
inline constexpr std::string_view kEndLineKey = "source_end_line";
inline constexpr std::string_view kPageKey = "source_page";
inline constexpr std::string_view kOffsetKey = "source_offset";
inline constexpr std::string_view kEndOffsetKey = "source_end_offset";

/// Cuts a document into chunks: between sections, else between blocks, else between sentences, else
/// between words, never inside a character. A block that introduces the next one (a line that ends
/// with ":", a term, the name of an option) stays with it where both fit. `section_title` holds the
/// headings above a chunk. Ids are "<document_id>#<index>".
std::vector<Chunk> chunk_document(const std::string& document_id, const SourceDocument& document,
                                  const ChunkingOptions& options);

/// The same for a Markdown text (markdown.hpp).
std::vector<Chunk> chunk_markdown(const std::string& document_id, std::string_view text,
                                  const ChunkingOptions& options);

/// The same for text without headings; `title` stands for the missing one.
std::vector<Chunk> chunk_plain(const std::string& document_id, std::string_view title,
                               std::string_view text, const ChunkingOptions& options);

/// Words, about: used where no embedder says how it counts.
std::size_t estimate_tokens(std::string_view text);

}  // namespace braid::ingest
