#include "braid/text/graphemes.hpp"

#include <string>

#include <gtest/gtest.h>

#include "braid/core/utf8.hpp"

namespace braid::text {
namespace {

TEST(Graphemes, CutsBetweenCharactersAsReadersSeeThem) {
    EXPECT_EQ(cut_at_grapheme("abc", 2), "ab");
    EXPECT_EQ(cut_at_grapheme("abc", 9), "abc");
    const std::string accented = "ae\xCC\x81x";  // e and a combining accent
    EXPECT_EQ(cut_at_grapheme(accented, 2), "a");
    EXPECT_EQ(cut_at_grapheme(accented, 4), "ae\xCC\x81");
    const std::string family = "x👩‍👩‍👧y";
    EXPECT_EQ(cut_at_grapheme(family, 10), "x");
    EXPECT_EQ(cut_at_grapheme(family, family.size() - 1), "x👩‍👩‍👧");
    // Longer than there is room for: between code points at least.
    EXPECT_EQ(cut_at_grapheme("👩‍👩‍👧", 5), "👩");
    EXPECT_EQ(cut_at_grapheme("\xFF\xFF\xFF", 2), "\xFF\xFF");
    EXPECT_EQ(cut_at_grapheme("", 5), "");
}

}  // namespace
}  // namespace braid::text
