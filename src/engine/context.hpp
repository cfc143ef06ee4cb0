#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "braid/answer.hpp"
#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::engine {

struct ContextOptions {
    std::size_t budget = 2000;  // tokens, markers and titles included
    std::size_t neighbors = 0;  // chunks before and after each hit, if there is room
    std::function<std::size_t(std::string_view)> count_tokens;  // none: four bytes are a token
    CallLimits limits{};  // at the deadline the context is whatever there is by then
};

/// The chunk of a hit, and up to `count` visible ones before and after it, by index.
using NeighborSource = std::function<Result<std::vector<Chunk>>(const Hit& hit, std::size_t count)>;

/// Chooses hits in order while they fit, skipping those that do not, then neighbours of the chosen
/// ones; joins consecutive chunks without repeating their overlap; puts documents in the order of
/// their best hit and chunks in document order. The text never exceeds the budget. If time runs out
/// it is incomplete, and says so.
Result<Context> make_context(const Answer& answer, const ContextOptions& options,
                             const NeighborSource& neighbors);

}  // namespace braid::engine
