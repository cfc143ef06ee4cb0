#include "braid/cli/view/terminal.hpp"

#include <random>

#include <gtest/gtest.h>

#include "braid/core/numbers.hpp"
#include "braid/text/display_width.hpp"

namespace braid::cli {
namespace {

TEST(Terminal, KnowsHowWideTextsAre) {
    EXPECT_EQ(text::display_width("fox"), 3U);
    EXPECT_EQ(text::display_width("caf\u00e9"), 4U);
    EXPECT_EQ(text::display_width("cafe\u0301"), 4U);
    EXPECT_EQ(text::display_width("\u72d0\u72f8"), 4U);
    EXPECT_EQ(text::display_width("\uD55C\uAE00"), 4U);
    EXPECT_EQ(text::display_width("\U0001F98A"), 2U);
    EXPECT_EQ(text::display_width(""), 0U);
}

TEST(Terminal, PlainTextCannotMoveTheCursor) {
    EXPECT_EQ(plain("a\x1b[2Jb"), "a [2Jb");
    EXPECT_EQ(plain("  a\r\n\tb \u0085 c\u3000"), "a b c");
    EXPECT_EQ(plain("a\u202Eb\uFEFFc"), "abc");
    EXPECT_EQ(plain("a\xFF\xC3"), "a");
    EXPECT_EQ(plain("\u72d0 caf\u00e9"), "\u72d0 caf\u00e9");
}

TEST(Terminal, ClipsAndPadsByColumns) {
    EXPECT_EQ(clipped("foxes", 5), "foxes");
    EXPECT_EQ(clipped("foxes!", 5), "foxe…");
    EXPECT_EQ(clipped("\u72d0\u72f8\u72d0", 5), "\u72d0\u72f8…");
    EXPECT_EQ(clipped("\u72d0\u72f8\u72d0", 4), "\u72d0…");
    EXPECT_EQ(clipped("abc", 0), "");
    EXPECT_EQ(clipped("a  b  c", 6), "a  b…");
    EXPECT_EQ(padded("\u72d0", 4), "\u72d0  ");
    EXPECT_EQ(padded_left("7", 3), "  7");
}

TEST(Terminal, NumbersAreReadable) {
    EXPECT_EQ(core::grouped(0), "0");
    EXPECT_EQ(core::grouped(999), "999");
    EXPECT_EQ(core::grouped(1000), "1,000");
    EXPECT_EQ(core::grouped(1234567), "1,234,567");
    EXPECT_EQ(core::byte_size(999), "999 bytes");
    EXPECT_EQ(core::byte_size(1000), "1.0 kB");
    EXPECT_EQ(core::byte_size(123'456'789), "123 MB");
}

TEST(Terminal, WrapsBetweenWordsAndWideCharacters) {
    const auto lines = [](const std::string& text, std::size_t width, std::size_t most) {
        return wrapped({{text, false}}, width, most, Style::none());
    };
    EXPECT_EQ(lines("red foxes hunt", 9, 5), (std::vector<std::string>{"red foxes", "hunt"}));
    EXPECT_EQ(lines("red foxes hunt", 8, 5), (std::vector<std::string>{"red", "foxes", "hunt"}));
    EXPECT_EQ(lines("foxhunting", 4, 5), (std::vector<std::string>{"foxh", "unti", "ng"}));
    EXPECT_EQ(lines("\u72d0\u72f8\u72d0\u72f8", 5, 5),
              (std::vector<std::string>{"\u72d0\u72f8", "\u72d0\u72f8"}));
    EXPECT_EQ(lines("red foxes hunt at dusk", 10, 2),
              (std::vector<std::string>{"red foxes", "hunt at …"}));
    EXPECT_TRUE(lines("", 10, 2).empty());
}

TEST(Terminal, MarksWordsWithColoursOrAsterisks) {
    const std::vector<Piece> pieces{{"red ", false}, {"foxes", true}, {" hunt", false}};
    EXPECT_EQ(wrapped(pieces, 40, 1, Style::none()), std::vector<std::string>{"red *foxes* hunt"});
    const auto colored = wrapped(pieces, 40, 1, Style::colors());
    EXPECT_EQ(colored, std::vector<std::string>{"red \x1b[1;33mfoxes\x1b[0m hunt"});
    EXPECT_EQ(wrapped(pieces, 9, 5, Style::colors())[0], "red \x1b[1;33mfoxes\x1b[0m");
}

TEST(Terminal, NoWrappedLineIsWiderThanAsked) {
    const std::vector<std::string> parts{"a",       "fox",        " ",  "\u72d0",
                                         "e\u0301", "\U0001F98A", "\n", "supercalifragilistic",
                                         "\x1b",    "\xFF"};
    for (unsigned seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::vector<Piece> pieces;
        pieces.reserve(30);
        for (unsigned i = 0; i < 30; ++i) {
            pieces.push_back({parts[rng() % parts.size()], rng() % 4 == 0});
        }
        const std::size_t width = 4 + rng() % 30;
        const auto lines = wrapped(pieces, width, 1 + rng() % 5, Style::none());
        for (const std::string& line : lines) {
            ASSERT_LE(text::display_width(line), width) << line;
            ASSERT_FALSE(line.empty());
            ASSERT_EQ(line.find('\n'), std::string::npos);
        }
    }
}

}  // namespace
}  // namespace braid::cli
