#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace braid::net {

/// Whether an address lies on this machine or its own network rather than on the public Internet:
/// loopback, private, link-local, shared (RFC 6598), multicast, unspecified, reserved, and IPv6
/// forms that hold such an IPv4 address. `bytes` has 4 or 16 elements, in network order.
bool is_private_address(std::span<const std::uint8_t> bytes) noexcept;

/// The same for an address written out, "127.0.0.1" or "[::1]"; false for a name.
bool is_private_literal(std::string_view host) noexcept;

}  // namespace braid::net
