#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/result.hpp"

namespace braid::store {

/// Appends values one after another to a byte vector, integers and floats little-endian.
class ByteWriter {
public:
    ByteWriter() = default;
    /// Continues after `bytes`.
    explicit ByteWriter(std::vector<std::byte> bytes) noexcept : bytes_(std::move(bytes)) {}

    void u8(std::uint8_t value);
    void u32(std::uint32_t value);
    void u64(std::uint64_t value);
    /// LEB128: seven bits per byte, least significant first; 1 to 10 bytes.
    void varint(std::uint64_t value);
    void f32(float value);
    void f64(double value);
    /// The length as a varint, then the characters.
    void string(std::string_view value);
    /// Just the bytes: the reader must know how many.
    void bytes(std::span<const std::byte> value);
    /// Zero bytes up to the next multiple of `alignment` from the start of the vector.
    void pad_to(std::size_t alignment);
    /// Overwrites eight bytes written earlier. Requires offset + 8 <= size().
    void patch_u64(std::size_t offset, std::uint64_t value);

    std::size_t size() const noexcept { return bytes_.size(); }
    std::span<const std::byte> view() const noexcept { return bytes_; }
    std::vector<std::byte> take() noexcept { return std::exchange(bytes_, {}); }

private:
    std::vector<std::byte> bytes_;
};

/// Reads back what a ByteWriter wrote, trusting nothing: any failure is Corruption that names the
/// source, the offset in it and what was being read. A failed read does not move the reader.
/// Results of type span and string_view borrow from the bytes given to the constructor.
class ByteReader {
public:
    /// `source` stands for the bytes in messages (a file name) and is not copied; `base` is the
    /// offset of the first byte in that source.
    explicit ByteReader(std::span<const std::byte> bytes, std::string_view source = "bytes",
                        std::uint64_t base = 0) noexcept
        : all_(bytes), rest_(bytes), source_(source), base_(base) {}

    Result<std::uint8_t> u8(std::string_view what);
    Result<std::uint32_t> u32(std::string_view what);
    Result<std::uint64_t> u64(std::string_view what);
    /// Corruption also if the value needs more than 64 bits or has a longer form than necessary.
    Result<std::uint64_t> varint(std::string_view what);
    Result<float> f32(std::string_view what);
    Result<double> f64(std::string_view what);
    Result<std::string_view> string(std::string_view what);
    Result<std::span<const std::byte>> bytes(std::uint64_t count, std::string_view what);
    /// `count` records of `size` bytes each; size > 0.
    Result<std::span<const std::byte>> read_records(std::uint64_t count, std::uint64_t size,
                                                    std::string_view what);
    /// A varint that says how many items of at least `min_size` >= 1 bytes follow: never more than
    /// fit in the rest, so it is safe to reserve memory for them.
    Result<std::size_t> count(std::size_t min_size, std::string_view what);
    /// Corruption if bytes are left over.
    Result<> expect_end(std::string_view what) const;

    std::span<const std::byte> rest() const noexcept { return rest_; }
    bool at_end() const noexcept { return rest_.empty(); }
    /// The offset of the next byte in the source.
    std::uint64_t offset() const noexcept { return base_ + (all_.size() - rest_.size()); }
    /// Corruption at offset(), for what only the caller can judge ("unknown field type 9").
    auto corrupt(std::string_view problem) const {
        return fail(ErrorCode::Corruption, describe(problem));
    }

private:
    std::string describe(std::string_view problem) const;
    Result<std::span<const std::byte>> take(std::uint64_t count, std::string_view what);

    std::span<const std::byte> all_;
    std::span<const std::byte> rest_;
    std::string_view source_;
    std::uint64_t base_;
};

}  // namespace braid::store
