#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::ingest {

/// What stands between `---` lines at the start of a text.
struct FrontMatter {
    std::size_t bytes = 0;  // of the text, including the closing line; 0: none
    std::string title;
    std::optional<Timestamp> date;
    Object metadata;  // everything else: scalars, lists of them, one level of nested keys
};

/// Reads the YAML that front matter is written in: `key: value`, quoted texts, `[a, b]`, lists of
/// `- a`, block texts (`|`, `>`), comments. Anchors, tags and deeper structure are kept as text.
FrontMatter read_front_matter(std::string_view text);

/// Whether a file may set metadata with this key: braid's own keys are reserved.
bool is_free_key(std::string_view key);

}  // namespace braid::ingest
