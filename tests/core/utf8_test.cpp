#include "braid/core/utf8.hpp"

#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace braid::core {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, AcceptsEveryScalarValueInItsOneForm) {
    for (char32_t c = 0; c <= 0x10FFFF; ++c) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        std::string text;
        append_utf8(text, c);
        ASSERT_TRUE(is_valid_utf8(text)) << static_cast<unsigned>(c);
        const Decoded decoded = decode_at(text, 0);
        ASSERT_EQ(decoded.code_point, c);
        ASSERT_EQ(decoded.length, text.size());
    }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndWhatIsBeyondUnicode) {
    for (const std::string_view text : {"\xC0\x80"sv,
                                        "\xC1\xBF"sv,
                                        "\xE0\x80\x80"sv,
                                        "\xE0\x9F\xBF"sv,
                                        "\xF0\x80\x80\x80"sv,
                                        "\xF0\x8F\xBF\xBF"sv,
                                        "\xED\xA0\x80"sv,
                                        "\xED\xBF\xBF"sv,
                                        "\xF4\x90\x80\x80"sv,
                                        "\xF5\x80\x80\x80"sv,
                                        "\xFF"sv,
                                        "\xFE"sv,
                                        "\x80"sv,
                                        "\xBF"sv,
                                        "\xC3"sv,
                                        "\xE2\x82"sv,
                                        "\xF0\x9F\x98"sv,
                                        "\xC3("sv,
                                        "abcdefgh\xFF"sv,
                                        "abcdefghijklmnop\xC3"sv}) {
        EXPECT_FALSE(is_valid_utf8(text)) << ::testing::PrintToString(text);
    }
    EXPECT_TRUE(is_valid_utf8(""));
    EXPECT_TRUE(is_valid_utf8("\0"sv));
    EXPECT_TRUE(is_valid_utf8("plain, naïve, 東京, 🚀"));
}

TEST(Utf8, NamesTheOffsetOfTheFirstBadByte) {
    EXPECT_TRUE(require_utf8("fine", "title"));
    const auto bad = require_utf8("caf\xC3\xA9 \xFFx", "title");
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(bad.error().message, "title is not valid UTF-8: byte 0xff at offset 6");
    EXPECT_EQ(valid_utf8_prefix("abc\xE2\x82"), 3U);
}

TEST(Utf8, StepsOverInvalidBytesWithoutEatingTheCharacterAfterThem) {
    const std::string_view text = "\xE2\x82z";
    const Decoded bad = decode_at(text, 0);
    EXPECT_EQ(bad.code_point, kInvalidBytes);
    EXPECT_EQ(bad.length, 2U);
    EXPECT_EQ(decode_at(text, 2).code_point, U'z');
    EXPECT_EQ(decode_at("\xF0\x9F\x98", 0).length, 3U);
    EXPECT_EQ(decode_at("\xED\xA0\x80", 0).length, 1U);
}

TEST(Utf8, CountsAndTakesCodePoints) {
    EXPECT_EQ(count_code_points(""), 0U);
    EXPECT_EQ(count_code_points("12345678é東🚀"), 11U);
    EXPECT_EQ(count_code_points("a\xFF\xFFz"), 4U);
    EXPECT_EQ(first_code_points("é東🚀x", 0), "");
    EXPECT_EQ(first_code_points("é東🚀x", 2), "é東");
    EXPECT_EQ(first_code_points("é東🚀x", 4), "é東🚀x");
    EXPECT_EQ(first_code_points("é東🚀x", 400), "é東🚀x");
    EXPECT_EQ(first_code_points("\xFF\xFFz", 2), "\xFF\xFF");
}

TEST(Utf8, CutsBetweenCharacters) {
    EXPECT_EQ(cut_at_most("héllo", 0), "");
    EXPECT_EQ(cut_at_most("héllo", 1), "h");
    EXPECT_EQ(cut_at_most("héllo", 2), "h");
    EXPECT_EQ(cut_at_most("héllo", 3), "hé");
    EXPECT_EQ(cut_at_most("héllo", 99), "héllo");
    EXPECT_EQ(cut_at_most("🚀", 3), "");
    EXPECT_EQ(cut_at_most("a🚀", 4), "a");
    EXPECT_EQ(cut_at_most("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80\x80\x80\x80");
}

TEST(Utf8, AgreesWithItselfOnRandomBytes) {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::string text(rng() % 40, '\0');
        for (char& c : text) c = static_cast<char>(rng() % 4 == 0 ? rng() % 128 : rng() % 256);
        std::size_t count = 0;
        bool valid = true;
        for (std::size_t at = 0; at < text.size(); ++count) {
            const Decoded step = decode_at(text, at);
            ASSERT_GE(step.length, 1U);
            ASSERT_LE(at + step.length, text.size());
            if (step.code_point == kInvalidBytes) {
                valid = false;
            } else {
                std::string again;
                append_utf8(again, step.code_point);
                ASSERT_EQ(again, text.substr(at, step.length));
            }
            at += step.length;
        }
        EXPECT_EQ(count_code_points(text), count);
        EXPECT_EQ(is_valid_utf8(text), valid);
        EXPECT_EQ(first_code_points(text, count).size(), text.size());
        for (std::size_t bytes = 0; bytes <= text.size(); ++bytes) {
            const auto cut = cut_at_most(text, bytes);
            ASSERT_LE(cut.size(), bytes);
            ASSERT_LE(bytes - cut.size(), 3U);
            if (valid) {
                ASSERT_TRUE(is_valid_utf8(cut));
            }
        }
    }
}

}  // namespace
}  // namespace braid::core
