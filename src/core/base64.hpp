#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace braid::core {

/// RFC 4648, with padding.
std::string encode_base64(std::span<const std::byte> bytes);
/// Strict RFC 4648 with or without padding; nullopt if it is not that.
std::optional<std::vector<std::byte>> decode_base64(std::string_view text);
/// Skips whatever is not a digit, as RFC 2045 requires of mail readers.
std::string decode_mail_base64(std::string_view text);

/// Four little-endian bytes each.
std::string floats_to_base64(std::span<const float> floats);
/// nullopt if the text is no base64 of 4-byte floats.
std::optional<std::vector<float>> floats_from_base64(std::string_view text);

}  // namespace braid::core
