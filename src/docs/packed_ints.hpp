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

/// What has to be known about numbers before the first of them is written.
struct PackedRange {
    std::uint64_t count = 0;
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    void add(std::uint64_t value) noexcept;
    unsigned width(unsigned min_width = 0) const noexcept;
};

/// Numbers one after another, in the form of write_packed.
class PackedWriter {
public:
    /// Every number must lie in the range, and there must be exactly that many.
    PackedWriter(store::ByteWriter& out, const PackedRange& range, unsigned min_width = 0);
    void add(std::uint64_t value);
    void finish();

private:
    store::ByteWriter& out_;
    std::uint64_t low_;
    unsigned width_;
    std::uint64_t word_ = 0;
    unsigned used_ = 0;  // bits of word_
};

/// Numbers in as many bits as the difference between the largest and the smallest needs; equal ones
/// take none. The format is in docs/formats/documents.md. With `min_width` 1 even equal ones take a
/// bit each, so that a reader can tell from the bytes how many there can be.
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
    /// The same if the count is not known.
    static Result<PackedInts> open(const store::Section& section);

    std::uint64_t size() const noexcept { return count_; }
    /// Bits per number.
    unsigned width() const noexcept { return width_; }
    /// Corruption if there is no such number, or its bytes are damaged.
    Result<std::uint64_t> at(std::uint64_t index) const;
    /// As many as `out` holds, from `first` on.
    Result<> read(std::uint64_t first, std::span<std::uint64_t> out) const;

private:
    store::Section words_;
    std::uint64_t count_ = 0;
    std::uint64_t base_ = 0;
    unsigned width_ = 0;
};

/// The same numbers one by one, in order. Not safe for concurrent use.
class PackedStream {
public:
    explicit PackedStream(const PackedInts& numbers) : numbers_(numbers) {}

    /// Number `index`; indices must be asked for in ascending order.
    Result<std::uint64_t> at(std::uint64_t index);

private:
    PackedInts numbers_;
    std::uint64_t first_ = 0;  // of what is read
    std::vector<std::uint64_t> read_;
};

}  // namespace braid::docs
