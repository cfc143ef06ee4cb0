#include "braid/llm/phrasing.hpp"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "braid/llm/list_marks.hpp"
#include "braid/llm/plain_text.hpp"
#include "llm/random_text.hpp"

namespace braid::llm {
namespace {

using Texts = std::vector<std::string>;
using namespace std::string_literals;

Texts phrasings(std::string reply, std::string_view query = "the query", bool cut = false) {
    return phrasings_in({.text = std::move(reply), .cut = cut}, query);
}

TEST(WithoutMarks, TakesAwayWhatMakesALineAnItem) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"1. red fox", "red fox"},
        {"2) red fox", "red fox"},
        {"3: red fox", "red fox"},
        {"4.red fox", "red fox"},
        {"5)red fox", "red fox"},
        {"6.) red fox", "red fox"},
        {"(7) red fox", "red fox"},
        {"[8] red fox", "red fox"},
        {"9 - red fox", "red fox"},
        {"10. red fox", "red fox"},
        {"a) red fox", "red fox"},
        {"(B) red fox", "red fox"},
        {"ii) red fox", "red fox"},
        {"① red fox", "red fox"},
        {"1、赤い狐", "赤い狐"},
        {"１", "１"},
        {"- red fox", "red fox"},
        {"-red fox", "red fox"},
        {"* red fox", "red fox"},
        {"+ red fox", "red fox"},
        {"> red fox", "red fox"},
        {"• red fox", "red fox"},
        {"•red fox", "red fox"},
        {"– red fox", "red fox"},
        {"→ red fox", "red fox"},
        {"## red fox", "red fox"},
        {"- 1. red fox", "red fox"},
        {"1. - red fox", "red fox"},
        {"- - red fox", "red fox"},
        {"\"red fox\"", "red fox"},
        {"'red fox'", "red fox"},
        {"“red fox”", "red fox"},
        {"„red fox“", "red fox"},
        {"‘red fox’", "red fox"},
        {"«red fox»", "red fox"},
        {"「赤い狐」", "赤い狐"},
        {"`red fox`", "red fox"},
        {"**red fox**", "red fox"},
        {"***red fox***", "red fox"},
        {"*red fox*", "red fox"},
        {"\"red fox\",", "red fox"},
        {"\"red fox\".", "red fox"},
        {"\"red fox", "red fox"},
        {"red fox\"", "red fox"},
        {"1. \"red fox\"", "red fox"},
        {"\"1. red fox\"", "red fox"},
        {"- **\"red fox\"**", "red fox"},
        {"'a fox's den'", "a fox's den"},
        {"Query: red fox", "red fox"},
        {"Alternative 1: red fox", "red fox"},
        {"**Alternative 2:** red fox", "red fox"},
        {"**Option #3**: red fox", "red fox"},
        {"1. Alternative query: \"red fox\"", "red fox"},
        {"SEARCH QUERY 2: red fox", "red fox"},
    };
    for (const auto& [line, bare] : cases) EXPECT_EQ(without_marks(line), bare) << line;
}

TEST(WithoutMarks, LeavesTextsThatMerelyBeginLikeAnItem) {
    for (const std::string_view line : {"red fox",
                                        "1.5 litres of milk",
                                        "1984",
                                        "1984. a novel",
                                        "2024: a review",
                                        "10:30 train to Leeds",
                                        "16:9 screens",
                                        "24/7 support",
                                        "3D printing",
                                        "1 fox",
                                        "E. coli in water",
                                        "J. Smith",
                                        "i. e. that",
                                        "-40 degrees",
                                        "+1 area code",
                                        ">= 5",
                                        "--verbose flag",
                                        "#1 song",
                                        "C# and C++",
                                        ".NET release",
                                        "rock 'n' roll",
                                        "\"red\" or \"blue\"",
                                        "“red” or “blue”",
                                        "'tis the season",
                                        "ratio: a definition",
                                        "query optimisation: an overview",
                                        "(some) foxes",
                                        "(a)symmetric keys",
                                        "vim) exit",
                                        "5 - 3",
                                        "foxes' dens",
                                        "naïve Bayes",
                                        "東京",
                                        "😀",
                                        ""}) {
        EXPECT_EQ(without_marks(line), line);
    }
}

TEST(Phrasings, AreTheFirstThreeLinesThatSaySomething) {
    EXPECT_EQ(phrasings("one fox\ntwo foxes\nthree foxes\nfour foxes"),
              (Texts{"one fox", "two foxes", "three foxes"}));
    EXPECT_EQ(phrasings("\n\n  one fox \r\n\r\n---\n***\n...\n\ttwo foxes\n"),
              (Texts{"one fox", "two foxes"}));
    EXPECT_EQ(phrasings("- one\n- two"), (Texts{"one", "two"}));
    EXPECT_EQ(phrasings(""), Texts{});
    EXPECT_EQ(phrasings("1.\n2.\n-\n\"\""), Texts{});
}

TEST(Phrasings, LeaveOutTheQueryAndDuplicates) {
    EXPECT_EQ(phrasings("1. Where do foxes LIVE\n2. Fox dens\n3. fox dens.\n4. fox habitat",
                        "where do foxes live?"),
              (Texts{"Fox dens", "fox habitat"}));
    EXPECT_EQ(phrasings("where  do\tfoxes live", " where do\nfoxes live "), Texts{});
    EXPECT_EQ(phrasings("C++ tutorial\nC# tutorial", "C tutorial"),
              (Texts{"C++ tutorial", "C# tutorial"}));
}

TEST(Phrasings, AreFoundAmongAnnouncementsFencesAndThoughts) {
    EXPECT_EQ(phrasings("Sure! Here are 3 alternatives:\n\n1. one\n2. two\n3. three\n\nEnjoy!"),
              (Texts{"one", "two", "three"}));
    EXPECT_EQ(phrasings("**Alternatives:**\none"), (Texts{"one"}));
    EXPECT_EQ(phrasings("```text\none\ntwo\n```"), (Texts{"one", "two"}));
    EXPECT_EQ(phrasings("<think>\nmaybe fox\n</think>\none\ntwo"), (Texts{"one", "two"}));
    EXPECT_EQ(phrasings("<think>never done"), Texts{});
    EXPECT_EQ(phrasings("one\n<think>and now"), Texts{"one"});
    EXPECT_EQ(phrasings("<thinking>x</thinking> one"), Texts{"one"});
}

TEST(Phrasings, AreReadFromJsonToo) {
    EXPECT_EQ(phrasings(R"(["one", "two", "three", "four"])"), (Texts{"one", "two", "three"}));
    EXPECT_EQ(phrasings("```json\n[\n  \"one\",\n  \"two\"\n]\n```"), (Texts{"one", "two"}));
    EXPECT_EQ(
        phrasings(R"({"query": "the query", "alternatives": [{"text": "1. one"}, "two", 3]})"),
        (Texts{"one", "two"}));
    EXPECT_EQ(phrasings("Here you are:\n[\"a \\u202E\\u0000 b\"]"), (Texts{"a b"}));
    // Broken off: the lines that are whole.
    EXPECT_EQ(phrasings("[\n\"one\",\n\"two\",\n\"thr", "q", true), (Texts{"one", "two"}));
    EXPECT_EQ(phrasings(std::string(5000, '[').append("fox")).size(), 0U);
    EXPECT_EQ(phrasings("[" + std::string(500, '[').append("fox")),
              (Texts{std::string(501, '[').append("fox")}));
}

TEST(Phrasings, DropTheLastLineOfACutReply) {
    EXPECT_EQ(phrasings("one\ntwo\nthr", "q", true), (Texts{"one", "two"}));
    EXPECT_EQ(phrasings("one fox in the ni", "q", true), (Texts{"one fox in the ni"}));
}

TEST(Phrasings, AreBounded) {
    const std::string longest(kMostPhrasingBytes, 'x');
    EXPECT_EQ(phrasings(longest), Texts{longest});
    EXPECT_EQ(phrasings(longest + "x"), Texts{});
    EXPECT_EQ(phrasings(longest + "x\none"), Texts{"one"});
    EXPECT_EQ(phrasings("[\"" + longest + "x\", \"one\"]"), Texts{"one"});
    std::string wide;
    while (wide.size() <= kMostPhrasingBytes) wide += "東";
    EXPECT_EQ(phrasings("[\"" + wide + "\", \"one\"]"), Texts{"one"});
    EXPECT_EQ(phrasings(std::string(1'000'000, '\n').append("one")), Texts{"one"});
    std::string marks;
    while (marks.size() < 1'000'000) marks += "- ";
    EXPECT_EQ(phrasings(marks + "x\"y\"\none"), Texts{"one"});
    EXPECT_EQ(paragraph_in({.text = marks + "x\"y\"", .cut = false}).size(),
              kMostParagraphBytes - 1);
}

TEST(Phrasings, CarryNoControlCharacters) {
    EXPECT_EQ(phrasings("red\0fox\x1b]0;title\x07\n\xFF\xFE"s), (Texts{"red fox ]0;title"}));
    EXPECT_EQ(phrasings("\u202Exof der\u202C\n\uFEFFone"), (Texts{"xof der", "one"}));
}

TEST(Paragraph, IsOneCleanLine) {
    const auto paragraph = [](std::string text) {
        return paragraph_in({.text = std::move(text), .cut = false});
    };
    EXPECT_EQ(paragraph("Foxes hunt at dusk.\n\nThey eat mice."),
              "Foxes hunt at dusk. They eat mice.");
    EXPECT_EQ(paragraph("Answer: Foxes hunt."), "Foxes hunt.");
    EXPECT_EQ(paragraph("Answer paragraph:\n\"Foxes hunt.\""), "Foxes hunt.");
    EXPECT_EQ(paragraph("Foxes hunt:\n- mice\n- birds\n---"), "mice birds");
    EXPECT_EQ(paragraph("They hunt\nsmall game:\n1. mice"), "They hunt small game: mice");
    EXPECT_EQ(paragraph("<think>hm</think>\n```\nFoxes hunt.\n```"), "Foxes hunt.");
    EXPECT_EQ(paragraph("Only this:"), "Only this:");
    EXPECT_EQ(paragraph("-\n**\n...\x01"), "");
    EXPECT_EQ(paragraph(""), "");
}

TEST(Paragraph, IsBounded) {
    std::string text = "x";
    while (text.size() <= 2 * kMostParagraphBytes) text += "é";
    const std::string cut = paragraph_in({.text = text, .cut = true});
    EXPECT_EQ(cut, text.substr(0, kMostParagraphBytes - 1));
}

TEST(PhrasingFuzz, WhateverTheReplyTheResultIsFitToBeSearched) {
    for (unsigned seed = 0; seed < 4000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 random(seed);
        const Completion reply{.text = random_text(random, 80), .cut = seed % 2 == 0};
        const std::string query = random_text(random, 4);
        Texts texts = phrasings_in(reply, query);
        ASSERT_LE(texts.size(), kMostPhrasings);
        for (const std::string& text : texts) {
            ASSERT_LE(text.size(), kMostPhrasingBytes);
            ASSERT_TRUE(has_word(text));
            ASSERT_EQ(harmless_lines(text), Texts{text});
            ASSERT_EQ(std::count(texts.begin(), texts.end(), text), 1);
        }
        const std::string paragraph = paragraph_in(reply);
        ASSERT_LE(paragraph.size(), kMostParagraphBytes);
        ASSERT_EQ(harmless_lines(paragraph), paragraph.empty() ? Texts{} : Texts{paragraph});
    }
}

}  // namespace
}  // namespace braid::llm
