#include "braid/core/sha256.hpp"

#include <random>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace braid::core {
namespace {

std::string hex(std::string_view text) {
    return sha256_hex(std::as_bytes(std::span(text)));
}

TEST(Sha256, AgreesWithThePublishedExamples) {
    EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hex(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PadsEveryLengthAroundABlock) {
    // Of 55, 56, 63, 64 and 65 times 'x'.
    EXPECT_EQ(hex(std::string(55, 'x')),
              "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
    EXPECT_EQ(hex(std::string(56, 'x')),
              "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
    EXPECT_EQ(hex(std::string(63, 'x')),
              "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
    EXPECT_EQ(hex(std::string(64, 'x')),
              "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
    EXPECT_EQ(hex(std::string(65, 'x')),
              "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
}

TEST(Sha256, DoesNotDependOnHowTheBytesAreCut) {
    std::mt19937 random(7);
    std::vector<std::byte> bytes(5000);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 255U);
    for (int round = 0; round < 50; ++round) {
        SCOPED_TRACE(::testing::Message() << "seed 7, round " << round);
        Sha256 hash;
        for (std::span<const std::byte> rest = bytes; !rest.empty();) {
            const std::size_t part = std::min<std::size_t>(random() % 200, rest.size());
            hash.update(rest.first(part));
            rest = rest.subspan(part);
        }
        EXPECT_EQ(to_hex(hash.finish()), sha256_hex(bytes));
    }
}

}  // namespace
}  // namespace braid::core
