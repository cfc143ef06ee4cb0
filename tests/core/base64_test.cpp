#include "braid/core/base64.hpp"

#include <random>

#include <gtest/gtest.h>

#include "core/share.hpp"

namespace braid::core {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

TEST(Base64, WritesTheExamplesOfTheStandard) {
    const std::pair<std::string_view, std::string_view> examples[] = {{"", ""},
                                                                      {"f", "Zg=="},
                                                                      {"fo", "Zm8="},
                                                                      {"foo", "Zm9v"},
                                                                      {"foob", "Zm9vYg=="},
                                                                      {"fooba", "Zm9vYmE="},
                                                                      {"foobar", "Zm9vYmFy"}};
    for (const auto& [plain, coded] : examples) {
        EXPECT_EQ(encode_base64(bytes_of(plain)), coded);
        EXPECT_EQ(decode_base64(coded), bytes_of(plain));
        EXPECT_EQ(decode_base64(coded.substr(0, coded.find('='))), bytes_of(plain));
        EXPECT_EQ(decode_mail_base64(coded), plain);
    }
}

TEST(Base64, RefusesWhatIsNotBase64) {
    for (const std::string_view text :
         {"Z", "Zg=", "Zm9vY", "Zg===", "Zm9v=", "Zm 9v", "Zm9v\n", "Zm-_", "====", "Zg==Zg=="}) {
        EXPECT_EQ(decode_base64(text), std::nullopt) << text;
    }
}

TEST(Base64, OfMailPassesOverWhatIsNoDigit) {
    EXPECT_EQ(decode_mail_base64("Zm9v\r\nYm Fy\r\n"), "foobar");
    EXPECT_EQ(decode_mail_base64("*Zm9v!YmFy=="), "foobar");
    EXPECT_EQ(decode_mail_base64("Z"), "");
}

TEST(Base64, ReadsWhatItWrote) {
    for (std::uint64_t seed = 0; seed < share_of(200); ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        std::mt19937_64 rng(seed);
        std::vector<std::byte> bytes(rng() % 100);
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng());
        const std::string text = encode_base64(bytes);
        ASSERT_EQ(decode_base64(text), bytes);
        ASSERT_EQ(bytes_of(decode_mail_base64(text)), bytes);
    }
    const std::vector<float> floats{0, -1.5F, 3.25e-20F};
    EXPECT_EQ(floats_from_base64(floats_to_base64(floats)), floats);
    EXPECT_EQ(floats_from_base64("Zm9v"), std::nullopt);
}

}  // namespace
}  // namespace braid::core
