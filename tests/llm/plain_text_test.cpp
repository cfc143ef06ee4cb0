#include "braid/llm/plain_text.hpp"

#include <gtest/gtest.h>

#include "braid/core/utf8.hpp"
#include "llm/random_text.hpp"

namespace braid::llm {
namespace {

using Lines = std::vector<std::string>;
using namespace std::string_view_literals;

TEST(PlainText, MakesLinesOfEveryKindOfLineEnd) {
    EXPECT_EQ(harmless_lines("a\nb\r\nc\rd\x0B"
                             "e\x0C"
                             "f\u0085g\u2028h\u2029i"),
              (Lines{"a", "b", "c", "d", "e", "f", "g", "h", "i"}));
    EXPECT_EQ(harmless_lines(""), Lines{});
    EXPECT_EQ(harmless_lines(" \n\t\n\u3000\n\0\n"sv), Lines{});
}

TEST(PlainText, TurnsControlsAndStrangeSpacesIntoSingleSpaces) {
    EXPECT_EQ(harmless_lines("\t red \u00A0\u2003 fox\0\x1b[31m!\x7F\u009B "sv),
              (Lines{"red fox [31m!"}));
    EXPECT_EQ(harmless_lines("a\xFF\xC3(b\xED\xA0\x80 c\xF4\x90\x80\x80"), (Lines{"a (b c"}));
    EXPECT_EQ(harmless_lines("a\uFFFDb\u200Bc"), (Lines{"a b c"}));
}

TEST(PlainText, DropsInvisibleCharactersButKeepsJoiners) {
    EXPECT_EQ(harmless_lines("\uFEFFa\u202Eb\u2066c\u00ADd\u2060e\U000E0041f\uFFFEg\U0010FFFFh"),
              (Lines{"abcdefgh"}));
    EXPECT_EQ(harmless_lines("می\u200Cخواهم 👩\u200D🔬"), (Lines{"می\u200Cخواهم 👩\u200D🔬"}));
}

TEST(PlainText, CutsBetweenCharacters) {
    EXPECT_EQ(core::cut_at_most("aé", 3), "aé");
    EXPECT_EQ(core::cut_at_most("aé", 2), "a");
    EXPECT_EQ(core::cut_at_most("aé", 1), "a");
    EXPECT_EQ(core::cut_at_most("é", 1), "");
    EXPECT_EQ(core::cut_at_most("", 0), "");
    EXPECT_EQ(harmless_line("one\ntwo\n東京", 100), "one two 東京");
    EXPECT_EQ(harmless_line("one\ntwo\n東京", 10), "one two ");
}

TEST(PlainText, DecodesCharacters) {
    const auto code_point = [](std::string_view text) {
        return core::decode_at(text, 0).code_point;
    };
    EXPECT_EQ(code_point("a"), U'a');
    EXPECT_EQ(code_point("é"), U'é');
    EXPECT_EQ(code_point("東"), U'東');
    EXPECT_EQ(code_point("😀"), U'😀');
    EXPECT_FALSE(core::decode_at("\x80", 0).valid());
    EXPECT_EQ(core::find_invalid_utf8("aé\xFFz"), 3U);
    EXPECT_EQ(core::find_invalid_utf8("aé東😀"), std::string_view::npos);
}

TEST(PlainText, IsHarmlessWhateverTheBytes) {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 random(seed);
        const std::string text = random_text(random, 60);
        for (const std::string& line : harmless_lines(text)) {
            ASSERT_FALSE(line.empty());
            ASSERT_EQ(core::find_invalid_utf8(line), std::string_view::npos);
            ASSERT_NE(line.front(), ' ');
            ASSERT_NE(line.back(), ' ');
            ASSERT_EQ(line.find("  "), std::string::npos);
            for (const char c : line)
                ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 127);
            ASSERT_EQ(harmless_lines(line), Lines{line});
        }
        const std::size_t most = seed % 40;
        ASSERT_LE(harmless_line(text, most).size(), most);
        ASSERT_EQ(core::find_invalid_utf8(harmless_line(text, most)), std::string_view::npos);
    }
}

}  // namespace
}  // namespace braid::llm
