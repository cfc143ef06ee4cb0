#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace braid::core {

/// SHA-256 (FIPS 180-4), for recognising files, not for speed: about 200 MB/s.
class Sha256 {
public:
    using Digest = std::array<std::byte, 32>;

    void update(std::span<const std::byte> bytes) noexcept;

    /// The digest of all that was given. The object is of no use afterwards.
    Digest finish() noexcept;

private:
    void absorb(const std::byte* block) noexcept;

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::byte, 64> pending_{};
    std::size_t pending_size_ = 0;
    std::uint64_t total_bytes_ = 0;
};

/// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::span<const std::byte> bytes);
std::string to_hex(const Sha256::Digest& digest);

}  // namespace braid::core
