#include "braid/net/client/address_policy.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <arpa/inet.h>

namespace braid::net {
namespace {

constexpr std::array<std::uint8_t, 12> kNat64{0, 0x64, 0xFF, 0x9B};

bool is_private_v4(std::span<const std::uint8_t> b) noexcept {
    return b[0] == 0 || b[0] == 10 || b[0] == 127 ||   // this network, private, loopback
           (b[0] == 100 && (b[1] & 0xC0U) == 64) ||    // shared
           (b[0] == 169 && b[1] == 254) ||             // link-local
           (b[0] == 172 && (b[1] & 0xF0U) == 16) ||    // private
           (b[0] == 192 && b[1] == 0 && b[2] == 0) ||  // protocol assignments
           (b[0] == 192 && b[1] == 168) ||             // private
           (b[0] == 198 && (b[1] & 0xFEU) == 18) ||    // benchmarking
           b[0] >= 224;                                // multicast, reserved, broadcast
}

bool all_zero(std::span<const std::uint8_t> bytes) noexcept {
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

bool is_private_v6(std::span<const std::uint8_t> b) noexcept {
    if ((b[0] & 0xFEU) == 0xFC) return true;                  // unique local
    if (b[0] == 0xFE && (b[1] & 0x80U) == 0x80) return true;  // link-local, site-local
    if (b[0] == 0xFF) return true;                            // multicast
    if (all_zero(b.first(10))) {
        const bool mapped = b[10] == 0xFF && b[11] == 0xFF;
        if (mapped) return is_private_v4(b.subspan(12));
        // ::, ::1 and the obsolete IPv4-compatible form
        if (b[10] == 0 && b[11] == 0)
            return all_zero(b.subspan(12, 3)) || is_private_v4(b.subspan(12));
    }
    if (std::equal(kNat64.begin(), kNat64.end(), b.begin())) return is_private_v4(b.subspan(12));
    if (b[0] == 0x20 && b[1] == 0x02) return is_private_v4(b.subspan(2, 4));  // 6to4
    return false;
}

}  // namespace

bool is_private_address(std::span<const std::uint8_t> bytes) noexcept {
    if (bytes.size() == 4) return is_private_v4(bytes);
    return bytes.size() != 16 || is_private_v6(bytes);
}

bool is_private_literal(std::string_view host) noexcept {
    if (host.size() > 64) return false;
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const std::string text(host.substr(0, host.find('%')));
    std::array<std::uint8_t, 16> bytes{};
    if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) {
        return is_private_address(std::span(bytes).first(4));
    }
    return inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1 && is_private_address(bytes);
}

}  // namespace braid::net
