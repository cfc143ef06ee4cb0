#include "braid/text/accents.hpp"

#include <string>

#include <gtest/gtest.h>

namespace braid::text {
namespace {

std::string folded(std::string word) {
    std::string buffer;
    fold_accents(word, buffer);
    return word;
}

TEST(FoldAccents, TakesAccentsOffLatinAndGreek) {
    EXPECT_EQ(folded("café"), "cafe");
    EXPECT_EQ(folded("việt"), "viet");
    EXPECT_EQ(folded("şğçöü"), "sgcou");
    EXPECT_EQ(folded("æœøłđðþħŧı"), "aeoeolddthhti");
    EXPECT_EQ(folded("ǿ"), "o");
    EXPECT_EQ(folded("σίσυφοσ"), "σισυφοσ");
    EXPECT_EQ(folded("ἄνθρωποσ"), "ανθρωποσ");
    EXPECT_EQ(folded("x\u0306y"), "xy");  // a pair that has no composed form
    EXPECT_EQ(folded("plain"), "plain");
    EXPECT_EQ(folded(""), "");
}

TEST(FoldAccents, KeepsCyrillicLettersThatOnlyLookComposed) {
    EXPECT_EQ(folded("ёлка"), "елка");
    EXPECT_EQ(folded("при\u0301вет"), "привет");
    EXPECT_EQ(folded("й"), "й");
    EXPECT_EQ(folded("київ"), "київ");
    EXPECT_EQ(folded("ў"), "ў");
}

TEST(FoldAccents, DropsPointsAndVowelSigns) {
    EXPECT_EQ(folded("שָׁלוֹם"), "שלום");
    EXPECT_EQ(folded("العَرَبِيَّة"), "العربية");
    EXPECT_EQ(folded("أإآٱ"), "اااا");
    EXPECT_EQ(folded("ا\u0654"), "ا");
    EXPECT_EQ(folded("ئؤ"), "ئؤ");  // hamza on other letters is spelling
}

TEST(FoldAccents, KeepsTheMarksOfOtherScripts) {
    EXPECT_EQ(folded("हिन्दी"), "हिन्दी");
    EXPECT_EQ(folded("தமிழ்"), "தமிழ்");
    EXPECT_EQ(folded("ภาษาไทยที่"), "ภาษาไทยที่");
}

}  // namespace
}  // namespace braid::text
