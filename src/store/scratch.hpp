#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "braid/result.hpp"

namespace braid::store {

/// Memory for a computation, zeros at first: Directory::scratch. Where that is a folder of a disk,
/// it is a file without a name, which the system reads and writes as it is touched, so that it may
/// be larger than memory. It is gone with the object, and with the process.
class Scratch {
public:
    virtual ~Scratch() = default;

    /// Valid as long as the object. Aligned to 64 bytes. Writing and reading never raise a signal:
    /// see `intact`.
    virtual std::span<std::byte> bytes() const noexcept = 0;

    /// IoError if the disk lost some of them: what was computed from them is worth nothing.
    virtual Result<> intact() const = 0;
};

/// On the heap.
std::unique_ptr<Scratch> scratch_in_memory(std::uint64_t size);

}  // namespace braid::store
