#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "braid/result.hpp"

namespace braid::store {

/// The bytes of one file, read on demand. Mapping reads nothing, and the file may be larger than
/// memory.
///
/// Reading never raises a signal: where the system cannot supply the bytes (the file was truncated,
/// the disk fails), they read as zeros, and `intact` fails from then on. So bytes are trusted only
/// if their checksum matches, and what was computed from them only if `intact` confirms it
/// afterwards (docs/decisions/0033-mapped-files.md). Safe for concurrent use.
class MappedFile {
public:
    virtual ~MappedFile() = default;

    /// Valid as long as the object, even after the file was removed. Aligned to 64 bytes.
    virtual std::span<const std::byte> bytes() const noexcept = 0;

    /// Corruption if bytes were missing when they were read, or if the file has become shorter.
    virtual Result<> intact() const = 0;

    /// For messages.
    virtual const std::string& path() const noexcept = 0;
};

/// A mapping of memory that holds a copy of `bytes`: for directories that are not on a disk.
std::shared_ptr<const MappedFile> map_copy(std::span<const std::byte> bytes, std::string path);

}  // namespace braid::store
