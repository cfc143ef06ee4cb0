#pragma once

#include <cstddef>

#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::local {

/// DeadlineExceeded, Cancelled, or nothing.
inline Result<> check_limits(const CallLimits& limits) {
    if (limits.stopped()) return fail(ErrorCode::Cancelled, "the caller cancelled the call");
    if (limits.expired()) return fail(ErrorCode::DeadlineExceeded, "the deadline passed");
    return {};
}

/// Counts the steps of a loop: every few thousand its limits are due.
///
///     if (steps.due()) BRAID_CHECK(check_limits(limits));
class StepCounter {
public:
    bool due() noexcept { return ++steps_ % kBetweenChecks == 0; }

private:
    static constexpr std::size_t kBetweenChecks = 4096;
    std::size_t steps_ = 0;
};

}  // namespace braid::local
