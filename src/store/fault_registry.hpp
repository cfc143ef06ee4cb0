#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace braid::store {

/// A range of addresses whose missing pages read as zeros instead of raising SIGBUS.
///
/// The first call installs the process's handler for that signal. For addresses that are not ours
/// it calls the handler that was installed before. Whoever installs a handler later has to do the
/// same for ours. The handler takes no lock and allocates nothing: it walks a list that only grows.
class GuardedRange {
public:
    /// Requires that [begin, begin + size) is mapped from now until the object is gone.
    GuardedRange(const void* begin, std::size_t size);
    GuardedRange(const GuardedRange&) = delete;
    GuardedRange& operator=(const GuardedRange&) = delete;
    GuardedRange(GuardedRange&&) = delete;
    GuardedRange& operator=(GuardedRange&&) = delete;
    ~GuardedRange();

    /// Whether a page of the range was replaced by zeros.
    bool damaged() const noexcept;

    struct Slot;

private:
    Slot* slot_;
};

}  // namespace braid::store
