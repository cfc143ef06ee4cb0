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
    CallLimits limits{};  // at the deadline the context is what there is by then
};

/// The chunk of a hit and up to `count` before and after it that may be seen, by index.
using NeighborSource = std::function<Result<std::vector<Chunk>>(const Hit& hit, std::size_t count)>;

/// Chooses hits in their order while they fit, passing over those that do not, then neighbours of
/// the chosen; joins chunks that follow each other, their overlap once; puts documents in the order
/// of their best hit and chunks in the order of the document. The text never exceeds the budget.
/// When the time is over it is not complete, and says so.
Result<Context> make_context(const Answer& answer, const ContextOptions& options,
                             const NeighborSource& neighbors);

}  // namespace braid::engine
