#include "braid/core/sha256.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

namespace braid::core {
namespace {

constexpr std::array<std::uint32_t, 64> kRoundConstants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::array<std::byte, 64> kPadding{std::byte{0x80}};
constexpr std::string_view kDigits = "0123456789abcdef";

std::uint32_t load_big_endian(const std::byte* at) noexcept {
    return (std::to_integer<std::uint32_t>(at[0]) << 24U) |
           (std::to_integer<std::uint32_t>(at[1]) << 16U) |
           (std::to_integer<std::uint32_t>(at[2]) << 8U) | std::to_integer<std::uint32_t>(at[3]);
}

}  // namespace

void Sha256::absorb(const std::byte* block) noexcept {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i) w[i] = load_big_endian(block + 4 * i);
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t s0 =
            std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3U);
        const std::uint32_t s1 =
            std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10U);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t choice = (e & f) ^ (~e & g);
        const std::uint32_t t1 = h + s1 + choice + kRoundConstants[i] + w[i];
        const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + s0 + majority;
    }
    const std::array<std::uint32_t, 8> round{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < round.size(); ++i) state_[i] += round[i];
}

void Sha256::update(std::span<const std::byte> bytes) noexcept {
    total_bytes_ += bytes.size();
    if (pending_size_ > 0) {
        const std::size_t part = std::min(bytes.size(), pending_.size() - pending_size_);
        std::copy_n(bytes.begin(), part,
                    pending_.begin() + static_cast<std::ptrdiff_t>(pending_size_));
        pending_size_ += part;
        bytes = bytes.subspan(part);
        if (pending_size_ < pending_.size()) return;
        absorb(pending_.data());
        pending_size_ = 0;
    }
    for (; bytes.size() >= pending_.size(); bytes = bytes.subspan(pending_.size())) {
        absorb(bytes.data());
    }
    std::copy(bytes.begin(), bytes.end(), pending_.begin());
    pending_size_ = bytes.size();
}

Sha256::Digest Sha256::finish() noexcept {
    const std::uint64_t bits = total_bytes_ * 8;
    const std::size_t padding =
        pending_size_ < 56 ? 56 - pending_size_ : 56 + pending_.size() - pending_size_;
    update(std::span(kPadding).first(padding));
    std::array<std::byte, 8> length{};
    for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<std::byte>(bits >> (56 - 8 * i));
    update(length);

    Digest digest{};
    for (std::size_t i = 0; i < digest.size(); ++i) {
        digest[i] = static_cast<std::byte>(state_[i / 4] >> (24 - 8 * (i % 4)));
    }
    return digest;
}

std::string to_hex(const Sha256::Digest& digest) {
    std::string hex;
    hex.reserve(2 * digest.size());
    for (const std::byte byte : digest) {
        hex.push_back(kDigits[std::to_integer<std::size_t>(byte >> 4U)]);
        hex.push_back(kDigits[std::to_integer<std::size_t>(byte & std::byte{15})]);
    }
    return hex;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
    Sha256 hash;
    hash.update(bytes);
    return to_hex(hash.finish());
}

}  // namespace braid::core
