#include "braid/core/sha256.hpp"

#include <new>
#include <string_view>

#include <openssl/evp.h>

namespace braid::core {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

/// Checks libcrypto's answer: with a known digest it fails only when out of memory.
void require(int done) {
    if (done != 1) throw std::bad_alloc();
}

/// Looked up once: a look-up costs more than the digest of a short text.
const EVP_MD* algorithm() {
    static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return fetched != nullptr ? fetched : EVP_sha256();
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const noexcept {
    EVP_MD_CTX_free(context);
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
    if (!context_) throw std::bad_alloc();
    require(EVP_DigestInit_ex(context_.get(), algorithm(), nullptr));
}

void Sha256::update(std::span<const std::byte> bytes) {
    require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

Sha256::Digest Sha256::finish() {
    Digest digest{};
    auto* const out = reinterpret_cast<unsigned char*>(digest.data());
    require(EVP_DigestFinal_ex(context_.get(), out, nullptr));
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
