#pragma once

#include <cstddef>
#include <string_view>

#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::core {

/// The length of a text as a JSON string, without quotes: what it costs in an answer.
std::size_t printed_size(std::string_view text) noexcept;
std::size_t printed_value_size(const Value& value) noexcept;
/// What a chunk costs in an answer: its texts, ids and metadata, and its vector if it has one.
std::size_t printed_size(const Chunk& chunk) noexcept;

/// Takes the bytes from the call's budget, if it has one. InvalidArgument if the answer is larger
/// than one may be, Unavailable if all callers together hold too much.
Result<> charge(const CallLimits& limits, std::size_t bytes);
/// For a chunk about to be copied, with a vector of that many dimensions.
Result<> charge(const CallLimits& limits, const Chunk& chunk, std::size_t dimensions = 0);

/// The same limits for copies that are not part of the answer: they are counted separately, up to
/// `most` (0: limited only by what everybody else holds), and only as long as the result lives.
CallLimits apart(const CallLimits& limits, std::size_t most = 0);
/// The same, up to what one answer may hold.
CallLimits apart_as_one_answer(const CallLimits& limits);
/// The same limits for an answer of its own.
CallLimits as_another_answer(const CallLimits& limits);

}  // namespace braid::core
