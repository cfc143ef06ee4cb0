#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace braid::sparse {

static_assert(std::endian::native == std::endian::little, "sections are read as they lie");

using Bytes = std::vector<std::uint8_t>;

/// Seven bits per byte, least significant first.
inline void put_varint(Bytes& out, std::uint64_t value) {
    for (; value >= 128; value >>= 7) out.push_back(static_cast<std::uint8_t>(value | 128));
    out.push_back(static_cast<std::uint8_t>(value));
}

/// False, with nothing consumed, if the bytes end before the number does or it has more than 64
/// bits.
inline bool get_varint(const std::uint8_t*& at, const std::uint8_t* end,
                       std::uint64_t& value) noexcept {
    if (at < end && *at < 128) {
        value = *at++;
        return true;
    }
    std::uint64_t sum = 0;
    const std::uint8_t* p = at;
    for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
        const std::uint8_t byte = *p++;
        sum |= static_cast<std::uint64_t>(byte & 127) << shift;
        if (byte < 128) {
            at = p;
            value = sum;
            return true;
        }
    }
    return false;
}

template <class T>
void put(Bytes& out, T value) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof(T));
}

/// Element `index` of an array of T that begins at `at`, aligned or not.
template <class T>
T load(const std::uint8_t* at, std::size_t index = 0) noexcept {
    T value;
    std::memcpy(&value, at + index * sizeof(T), sizeof(T));
    return value;
}

inline std::span<const std::uint8_t> octets(std::span<const std::byte> bytes) noexcept {
    return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

template <class T>
std::span<const std::byte> raw(const std::vector<T>& values) noexcept {
    return std::as_bytes(std::span(values));
}

}  // namespace braid::sparse
