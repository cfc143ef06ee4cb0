#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "braid/collection.hpp"
#include "braid/value.hpp"

namespace braid::apps {

/// Where a chunk's text comes from: metadata.source or metadata.url, else its document.
std::string source_of(const Chunk& chunk);
/// metadata.trust, else "untrusted": retrieved text is data, never orders.
std::string trust_of(const Chunk& chunk);
/// The field, else metadata.title; empty if there is none.
std::string title_of(const Chunk& chunk);
std::string sensitivity_of(const Chunk& chunk);

/// A value of the metadata as text: strings as they are, others as JSON; empty if absent or null.
std::string metadata_text(const Chunk& chunk, std::string_view key);

/// With a space for every line break.
std::string on_one_line(std::string_view text);

/// At most the first `count` code points, "..." after them if there are more.
std::string beginning(std::string_view text, std::size_t count);

}  // namespace braid::apps
