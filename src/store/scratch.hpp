#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "braid/result.hpp"

namespace braid::store {

/// Memory for a computation, initially zero: Directory::scratch. In a folder on a disk it is an
/// unnamed file, which the system reads and writes on demand, so it may be larger than memory. It
/// disappears with the object, and with the process.
class Scratch {
public:
    virtual ~Scratch() = default;

    /// Valid as long as the object. Aligned to 64 bytes. Writing and reading never raise a signal:
    /// see `intact`.
    virtual std::span<std::byte> bytes() const noexcept = 0;

    /// IoError if the disk lost some of the data: what was computed from it is worthless.
    virtual Result<> intact() const = 0;
};

/// On the heap.
std::unique_ptr<Scratch> scratch_in_memory(std::uint64_t size);

}  // namespace braid::store
