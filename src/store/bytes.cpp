#include "braid/store/bytes.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace braid::store {
namespace {

template <class U>
void append_little_endian(std::vector<std::byte>& bytes, U value) {
    std::array<std::byte, sizeof(U)> encoded;
    for (std::size_t i = 0; i < sizeof(U); ++i) {
        encoded[i] = static_cast<std::byte>((value >> (8 * i)) & 0xFF);
    }
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
}

template <class U>
U little_endian(std::span<const std::byte> bytes) {
    U value = 0;
    for (std::size_t i = 0; i < sizeof(U); ++i) {
        value |= static_cast<U>(static_cast<U>(std::to_integer<std::uint8_t>(bytes[i])) << (8 * i));
    }
    return value;
}

constexpr std::size_t kMaxVarintBytes = 10;

}  // namespace

void ByteWriter::u8(std::uint8_t value) {
    bytes_.push_back(static_cast<std::byte>(value));
}

void ByteWriter::u32(std::uint32_t value) {
    append_little_endian(bytes_, value);
}

void ByteWriter::u64(std::uint64_t value) {
    append_little_endian(bytes_, value);
}

void ByteWriter::varint(std::uint64_t value) {
    while (value >= 0x80) {
        u8(static_cast<std::uint8_t>((value & 0x7F) | 0x80));
        value >>= 7;
    }
    u8(static_cast<std::uint8_t>(value));
}

void ByteWriter::f32(float value) {
    u32(std::bit_cast<std::uint32_t>(value));
}

void ByteWriter::f64(double value) {
    u64(std::bit_cast<std::uint64_t>(value));
}

void ByteWriter::string(std::string_view value) {
    varint(value.size());
    bytes(std::as_bytes(std::span(value)));
}

void ByteWriter::bytes(std::span<const std::byte> value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
}

void ByteWriter::pad_to(std::size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
}

void ByteWriter::patch_u64(std::size_t offset, std::uint64_t value) {
    for (std::size_t i = 0; i < sizeof(value); ++i) {
        bytes_[offset + i] = static_cast<std::byte>((value >> (8 * i)) & 0xFF);
    }
}

std::string ByteReader::describe(std::string_view problem) const {
    return std::string(source_) + " is damaged at offset " + std::to_string(offset()) + ": " +
           std::string(problem);
}

Result<std::span<const std::byte>> ByteReader::take(std::uint64_t count, std::string_view what) {
    if (count > rest_.size()) {
        return corrupt(std::string(what) + " needs " + std::to_string(count) + " bytes, " +
                       std::to_string(rest_.size()) + " are left");
    }
    const auto taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(taken.size());
    return taken;
}

Result<std::uint8_t> ByteReader::u8(std::string_view what) {
    BRAID_TRY(const auto taken, take(sizeof(std::uint8_t), what));
    return std::to_integer<std::uint8_t>(taken[0]);
}

Result<std::uint32_t> ByteReader::u32(std::string_view what) {
    BRAID_TRY(const auto taken, take(sizeof(std::uint32_t), what));
    return little_endian<std::uint32_t>(taken);
}

Result<std::uint64_t> ByteReader::u64(std::string_view what) {
    BRAID_TRY(const auto taken, take(sizeof(std::uint64_t), what));
    return little_endian<std::uint64_t>(taken);
}

Result<std::uint64_t> ByteReader::varint(std::string_view what) {
    std::uint64_t value = 0;
    const std::size_t limit = std::min(rest_.size(), kMaxVarintBytes);
    for (std::size_t i = 0; i < limit; ++i) {
        const auto byte = std::to_integer<std::uint8_t>(rest_[i]);
        // The tenth byte holds the one remaining bit of 64.
        if (i + 1 == kMaxVarintBytes && byte > 1) break;
        value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
        if ((byte & 0x80) != 0) continue;
        if (byte == 0 && i > 0) {
            return corrupt(std::string(what) + " is not in its shortest form");
        }
        rest_ = rest_.subspan(i + 1);
        return value;
    }
    if (limit < kMaxVarintBytes) return corrupt(std::string(what) + " ends in mid-number");
    return corrupt(std::string(what) + " does not fit 64 bits");
}

Result<float> ByteReader::f32(std::string_view what) {
    BRAID_TRY(const auto bits, u32(what));
    return std::bit_cast<float>(bits);
}

Result<double> ByteReader::f64(std::string_view what) {
    BRAID_TRY(const auto bits, u64(what));
    return std::bit_cast<double>(bits);
}

Result<std::string_view> ByteReader::string(std::string_view what) {
    const auto before = rest_;
    BRAID_TRY(const auto length, varint(what));
    auto taken = take(length, what);
    if (!taken) {
        rest_ = before;
        return fail(ErrorCode::Corruption, std::move(taken).error().message);
    }
    return std::string_view(reinterpret_cast<const char*>(taken->data()), taken->size());
}

Result<std::span<const std::byte>> ByteReader::bytes(std::uint64_t count, std::string_view what) {
    return take(count, what);
}

Result<std::span<const std::byte>> ByteReader::read_records(std::uint64_t count, std::uint64_t size,
                                                            std::string_view what) {
    // Divide rather than multiply: count * size from a hostile file may wrap around.
    if (size == 0 || count > rest_.size() / size) {
        return corrupt(std::string(what) + " declares " + std::to_string(count) + " records of " +
                       std::to_string(size) + " bytes, " + std::to_string(rest_.size()) +
                       " bytes are left");
    }
    return take(count * size, what);
}

Result<std::size_t> ByteReader::count(std::size_t min_size, std::string_view what) {
    const auto before = rest_;
    BRAID_TRY(const auto declared, varint(what));
    if (min_size == 0 || declared > rest_.size() / min_size) {
        const std::size_t left = rest_.size();
        rest_ = before;
        return corrupt(std::string(what) + " declares " + std::to_string(declared) +
                       " items of at least " + std::to_string(min_size) + " bytes, " +
                       std::to_string(left) + " bytes are left");
    }
    return static_cast<std::size_t>(declared);
}

Result<> ByteReader::expect_end(std::string_view what) const {
    if (rest_.empty()) return {};
    return corrupt(std::string(what) + " is followed by " + std::to_string(rest_.size()) +
                   " unexpected bytes");
}

}  // namespace braid::store
