#pragma once

#include <cstddef>

#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::core {

/// DeadlineExceeded, Cancelled, or nothing.
inline Result<> check_limits(const CallLimits& limits) {
    if (limits.stopped()) return fail(ErrorCode::Cancelled, "the caller cancelled the call");
    if (limits.expired()) return fail(ErrorCode::DeadlineExceeded, "the deadline passed");
    return {};
}

/// Counts the steps of a loop: every few thousand steps its limits are due for a check.
///
///     if (steps.due()) BRAID_CHECK(check_limits(limits));
class StepCounter {
public:
    /// `weight`: how many simple steps this one is worth.
    bool due(std::size_t weight = 1) noexcept {
        steps_ += weight;
        if (steps_ < kBetweenChecks) return false;
        steps_ = 0;
        return true;
    }

private:
    static constexpr std::size_t kBetweenChecks = 4096;
    std::size_t steps_ = 0;
};

}  // namespace braid::core
