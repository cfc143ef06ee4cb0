#pragma once

#include <atomic>
#include <cstdint>

namespace braid::core {

/// A number that this process gave to nobody before; never 0.
inline std::uint64_t unique_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace braid::core
