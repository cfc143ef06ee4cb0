#include "braid/text/highlight.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "braid/core/utf8.hpp"
#include "text/analysis.hpp"

namespace braid::text {
namespace {

/// The text with its matches in brackets.
std::string marked(std::string_view text, const std::vector<ByteRange>& matches) {
    std::string out;
    std::size_t at = 0;
    for (const auto& [begin, end] : matches) {
        out += text.substr(at, begin - at);
        out += '[';
        out += text.substr(begin, end - begin);
        out += ']';
        at = end;
    }
    out += text.substr(at);
    return out;
}

std::string marked(std::string_view query, std::string_view text) {
    return marked(text, Highlighter(make_analyzer(), query).matches(text));
}

std::string snippet(std::string_view query, std::string_view text, std::size_t code_points) {
    const Snippet found = Highlighter(make_analyzer(), query).snippet(text, code_points);
    return (found.cut_before ? "<" : "") + marked(found.text, found.matches) +
           (found.cut_after ? ">" : "");
}

TEST(Highlight, MarksEveryFormOfAQueryWord) {
    EXPECT_EQ(marked("run fox", "The foxes were running. Run!"),
              "The [foxes] were [running]. [Run]!");
    EXPECT_EQ(marked("cafe", "two Cafés"), "two [Cafés]");
    EXPECT_EQ(marked("user", "call getUserName()"), "call get[User]Name()");
    EXPECT_EQ(marked("getUserName", "call getUserName()"), "call [getUserName]()");
    EXPECT_EQ(marked("東京都", "私は東京都に住む"), "私は[東京都]に住む");
    EXPECT_EQ(marked("nothing", "here"), "here");
    EXPECT_EQ(marked("", "here"), "here");
    EXPECT_EQ(marked("here", ""), "");
}

TEST(Highlight, JoinsMatchesThatTouch) {
    const Highlighter highlighter(make_analyzer(), "user name");
    EXPECT_EQ(highlighter.matches("getUserName"), (std::vector<ByteRange>{{3, 11}}));
}

TEST(Snippet, IsTheWholeTextIfItFits) {
    EXPECT_EQ(snippet("fox", "a red fox", 100), "a red [fox]");
    EXPECT_EQ(snippet("none", "a red fox", 100), "a red fox");
    EXPECT_EQ(snippet("none", "", 100), "");
}

TEST(Snippet, IsTheStartOfATextWithoutMatches) {
    EXPECT_EQ(snippet("none", "one two three four", 9), "one two>");
    EXPECT_EQ(snippet("none", "onetwothree", 5), "onetw>");
    EXPECT_EQ(snippet("none", "one", 0), ">");
}

TEST(Snippet, TakesTheWindowWithTheMostDistinctTerms) {
    const std::string text =
        "apple apple apple and a long way of words that match nothing at all until "
        "apple meets pear in one place and then many more words follow";
    EXPECT_EQ(snippet("apple pear", text, 30), "<until [apple] meets [pear] in one>");
}

TEST(Snippet, TakesMatchesThatAreKnown) {
    const std::string text =
        "Apple apple apple and a long way of words that match nothing at all until "
        "apple meets pear in one place and then many more words follow";
    const auto around = [&](const std::vector<ByteRange>& matches, std::size_t code_points) {
        const Snippet found = snippet_with(text, matches, code_points);
        return marked(found.text, found.matches);
    };
    EXPECT_EQ(around({{0, 5}, {6, 11}, {12, 17}, {74, 79}, {86, 90}}, 30),
              "until [apple] meets [pear] in one");
    EXPECT_EQ(around({{0, 5}, {6, 11}, {12, 17}, {86, 90}}, 17), "[Apple] [apple] [apple]");
    EXPECT_EQ(around({}, 5), "Apple");
}

TEST(Snippet, StaysWithinTheLimitAndShowsTheFirstMatchOfALongOne) {
    EXPECT_EQ(snippet("extraordinary", "an extraordinary day", 5), "<[extra]>");
    EXPECT_EQ(snippet("day", "an extraordinary day", 6), "<[day]");
}

TEST(Snippet, NeverCutsACharacter) {
    std::string text;
    for (int i = 0; i < 50; ++i) text += "字é🚀ที่";
    text += "東京";
    for (int i = 0; i < 50; ++i) text += "字é🚀ที่";
    for (std::size_t limit = 0; limit < 40; ++limit) {
        const Snippet found = Highlighter(make_analyzer(), "東京").snippet(text, limit);
        EXPECT_TRUE(core::is_valid_utf8(found.text));
        EXPECT_LE(core::count_code_points(found.text), limit);
    }
}

TEST(Snippet, SurvivesRandomTextsAndLimits) {
    const Analyzer analyzer = make_analyzer();
    const std::string_view pieces[] = {"fox", "foxes", " ", "\n",  "red",        "東京", "é",
                                       "-",   ".",     "_", "C++", "getFoxName", "\xFF", "\x80"};
    for (unsigned seed = 0; seed < 1000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::string text;
        for (std::size_t i = rng() % 60; i > 0; --i) text += pieces[rng() % std::size(pieces)];
        const std::size_t limit = rng() % 30;
        const Highlighter highlighter(analyzer, "fox 東京 c++");
        const Snippet found = highlighter.snippet(text, limit);
        EXPECT_EQ(found.cut_before, found.text.data() != text.data());
        EXPECT_EQ(found.cut_after,
                  found.text.data() + found.text.size() != text.data() + text.size());
        if (core::is_valid_utf8(text)) {
            EXPECT_TRUE(core::is_valid_utf8(found.text));
            EXPECT_LE(core::count_code_points(found.text), limit);
        }
        std::uint32_t last = 0;
        for (const auto& [begin, end] : found.matches) {
            EXPECT_LE(last, begin);
            EXPECT_LT(begin, end);
            EXPECT_LE(end, found.text.size());
            last = end;
        }
        EXPECT_EQ(found.matches.empty(), limit == 0 || highlighter.matches(text).empty());
    }
}

}  // namespace
}  // namespace braid::text
