#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "braid/result.hpp"

namespace braid::embed {

/// The vectors in the body of an OpenAI-style answer for `count` texts, in the order of the texts.
/// Vectors are lists of numbers, or base64 of little-endian floats. Corruption unless there is
/// exactly one vector per text, all have `dimension` elements (0: the same number), and every
/// element is finite.
Result<std::vector<std::vector<float>>> parse_embedding_response(std::string_view body,
                                                                 std::size_t count,
                                                                 std::size_t dimension);

}  // namespace braid::embed
