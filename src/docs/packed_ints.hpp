#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/sections.hpp"

namespace braid::docs {

/// Numbers in as many bits as the largest, less the smallest, needs; equal ones in none. The format
/// is in docs/formats/documents.md. With `min_width` 1 even equal ones take a bit each, so that a
/// reader can tell from the bytes how many there can be.
void write_packed(store::ByteWriter& out, std::span<const std::uint64_t> values,
                  unsigned min_width = 0);
/// The same as a section of its own.
Result<> write_packed(store::SectionSink& sink, std::string_view name,
                      std::span<const std::uint64_t> values);

/// Reads them back. Borrows from the section's source. Safe for concurrent use.
class PackedInts {
public:
    PackedInts() = default;
    /// Corruption if it does not hold exactly `count` numbers.
    static Result<PackedInts> open(const store::Section& section, std::uint64_t count);
    /// The same for one who does not know how many.
    static Result<PackedInts> open(const store::Section& section);

    std::uint64_t size() const noexcept { return count_; }
    /// Bits that each takes.
    unsigned width() const noexcept { return width_; }
    /// Corruption if there is no such number, or its bytes are damaged.
    Result<std::uint64_t> at(std::uint64_t index) const;
    /// As many as `out` takes, from `first` on.
    Result<> read(std::uint64_t first, std::span<std::uint64_t> out) const;

private:
    store::Section words_;
    std::uint64_t count_ = 0;
    std::uint64_t base_ = 0;
    unsigned width_ = 0;
};

}  // namespace braid::docs
