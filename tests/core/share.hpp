#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace braid {

/// How many of `all` random trials to run: those of BRAID_TEST_SHARE percent, at least one; all of
/// them without it. Sanitizers make trials slow, and optimised tests run them all.
inline std::uint64_t share_of(std::uint64_t all) {
    const char* const given = std::getenv("BRAID_TEST_SHARE");  // NOLINT(concurrency-mt-unsafe)
    const std::uint64_t percent = given != nullptr ? std::strtoull(given, nullptr, 10) : 100;
    return std::clamp<std::uint64_t>(all * percent / 100, 1, all);
}

}  // namespace braid
