#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's state of a digest

namespace braid::core {

/// SHA-256 (FIPS 180-4) by libcrypto, which uses what the processor has for it.
class Sha256 {
public:
    using Digest = std::array<std::byte, 32>;

    Sha256();

    void update(std::span<const std::byte> bytes);

    /// The digest of all that was given. The object is of no use afterwards.
    Digest finish();

private:
    struct Free {
        void operator()(evp_md_ctx_st* context) const noexcept;
    };

    std::unique_ptr<evp_md_ctx_st, Free> context_;
};

/// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::span<const std::byte> bytes);
inline std::string sha256_hex(std::string_view text) {
    return sha256_hex(std::as_bytes(std::span(text)));
}
std::string to_hex(const Sha256::Digest& digest);

}  // namespace braid::core
