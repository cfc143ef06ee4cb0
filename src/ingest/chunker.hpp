#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"

namespace braid::ingest {

struct ChunkingOptions {
    /// Tokens of one chunk, title and section included: what the embedder reads.
    std::size_t max_tokens = 256;
    /// Tokens of the chunk before that are repeated at the start of one, within a section.
    std::size_t overlap_tokens = 32;
    /// Counts as the embedder does. None: an estimate from the number of words.
    std::function<std::size_t(std::string_view)> count_tokens;
};

/// Cuts a Markdown text into chunks: at headings, else between paragraphs, else between sentences,
/// else between words, never inside a character. `section_title` holds the headings above a chunk,
/// below the first-level one, joined by " > "; the first first-level heading is the title. Headings
/// inside fenced code are text. Ids are "<document_id>#<index>".
std::vector<Chunk> chunk_markdown(const std::string& document_id, std::string_view text,
                                  const ChunkingOptions& options);

/// The same for text without headings; `title` stands for the missing one.
std::vector<Chunk> chunk_plain(const std::string& document_id, std::string_view title,
                               std::string_view text, const ChunkingOptions& options);

/// Words, about: used where no embedder says how it counts.
std::size_t estimate_tokens(std::string_view text);

}  // namespace braid::ingest
