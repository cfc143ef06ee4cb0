#pragma once

#include <span>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "braid/core/sha256.hpp"
#include "braid/server/auth/api_keys.hpp"

namespace braid::testing {

inline std::string hash_of(const std::string& text) {
    return core::sha256_hex(std::as_bytes(std::span(text)));
}

/// An entry of a key file for the key "<name>-key".
inline std::string key_entry(const std::string& name, const std::string& rest) {
    return R"({"name": ")" + name + R"(", "sha256": ")" + hash_of(name + "-key") + "\", " + rest +
           "}";
}

inline server::KeyRing ring(const std::string& entries) {
    auto keys = server::KeyRing::parse(R"({"keys": [)" + entries + "]}");
    EXPECT_TRUE(keys) << (keys ? "" : keys.error().message);
    return keys ? *std::move(keys) : server::KeyRing();
}

}  // namespace braid::testing
