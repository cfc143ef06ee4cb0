#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/core/utf8.hpp"
#include "braid/text/standard.hpp"
#include "text/analysis.hpp"

namespace braid::text {
namespace {

/// Texts made to reach every rule: words, joiners, marks, all scripts, any code point, any byte.
std::string random_text(std::mt19937& rng) {
    static const std::string_view kPieces[] = {"word",       "Running", "the",      "Djordje",
                                               "HTTPServer", "get",     "User",     "x",
                                               "A",          "s",       "42",       "3",
                                               "0",          " ",       " ",        "\n",
                                               "_",          "__",      "-",        ".",
                                               ",",          "@",       "'",        "’",
                                               "::",         ":",       "&",        "+",
                                               "++",         "#",       "/",        "é",
                                               "\u0301",     "ß",       "İ",        "Ж",
                                               "东京",       "ひ",      "カ",       "ー",
                                               "ไท",         "ที่",       "한글",     "\u1112\u1161",
                                               "🚀",         "🇩🇪",      "\u200d",   "\u00ad",
                                               "½",          "㏂",      "ﷺ",        "ǅ",
                                               "١٢",         "\xFF",    "\xE2\x82", "™"};
    std::string text;
    const unsigned kind = rng() % 4;
    for (std::size_t i = rng() % 40; i > 0; --i) {
        if (kind == 0) {
            text.push_back(static_cast<char>(rng() % 256));
        } else if (kind == 1) {
            const auto c = static_cast<char32_t>(rng() % (rng() % 2 == 0 ? 0x3100 : 0x110000));
            if (c < 0xD800 || c > 0xDFFF) core::append_utf8(text, c);
        } else {
            text += kPieces[rng() % std::size(kPieces)];
        }
    }
    return text;
}

/// Whether characters of `text`, or stretches of invalid bytes, start at each offset.
std::vector<bool> boundaries(std::string_view text) {
    std::vector<bool> is_boundary(text.size() + 1, false);
    for (std::size_t at = 0; at < text.size(); at += core::decode_at(text, at).length) {
        is_boundary[at] = true;
    }
    is_boundary[text.size()] = true;
    return is_boundary;
}

void expect_sound(std::string_view text, const std::vector<Token>& tokens) {
    const std::vector<bool> is_boundary = boundaries(text);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const Token& token = tokens[i];
        ASSERT_FALSE(token.term.empty());
        ASSERT_LE(token.term.size(), kMaxTermBytes);
        ASSERT_TRUE(core::is_valid_utf8(token.term));
        ASSERT_LT(token.begin, token.end);
        ASSERT_LE(token.end, text.size());
        ASSERT_TRUE(is_boundary[token.begin]);
        ASSERT_TRUE(is_boundary[token.end]);
        if (i == 0) continue;
        ASSERT_GE(token.position, tokens[i - 1].position);
        ASSERT_GE(token.begin, tokens[i - 1].begin);
    }
}

class EachAnalyzer : public ::testing::TestWithParam<AnalyzerOptions> {};

TEST_P(EachAnalyzer, GivesSoundTokensForAnyText) {
    const Analyzer analyzer = *Analyzer::create(GetParam());
    std::vector<Token> tokens;
    for (unsigned seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const std::string text = random_text(rng);
        analyzer.analyze(text, tokens);
        expect_sound(text, tokens);
        ASSERT_EQ(tokens_of(analyzer, text), tokens) << "the second time differs";
    }
}

TEST_P(EachAnalyzer, ReadsTwoTextsWithASpaceBetweenThemAsOneAfterTheOther) {
    const Analyzer analyzer = *Analyzer::create(GetParam());
    for (unsigned seed = 0; seed < 1000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        const std::string a = random_text(rng);
        const std::string b = random_text(rng);
        std::vector<std::string> terms = analyzer.terms(a);
        for (std::string& term : analyzer.terms(b)) terms.push_back(std::move(term));
        ASSERT_EQ(analyzer.terms(std::string(a).append("\n").append(b)), terms);
    }
}

INSTANTIATE_TEST_SUITE_P(All, EachAnalyzer,
                         ::testing::Values(AnalyzerOptions{"standard", "english", false},
                                           AnalyzerOptions{"standard", "english", true},
                                           AnalyzerOptions{"standard", "turkish", false},
                                           AnalyzerOptions{"standard", "arabic", false},
                                           AnalyzerOptions{"standard", "none", false},
                                           AnalyzerOptions{"simple", "english", false}),
                         [](const auto& tested) {
                             return tested.param.name + "_" + tested.param.language +
                                    (tested.param.stop_words ? "_stop" : "");
                         });

TEST(StandardAnalyzer, TakesTheShortPathOnlyWhereItLeadsToTheSameTokens) {
    struct Variant {
        std::string_view language;
        bool stop_words;
    };
    for (const auto& [language, stop_words] :
         {Variant{"english", false}, Variant{"english", true}, Variant{"german", false},
          Variant{"serbian", false}, Variant{"turkish", false}, Variant{"none", false}}) {
        StandardTokenizer fast({language, true});
        StandardTokenizer slow({language, false});
        for (unsigned seed = 0; seed < 2000; ++seed) {
            SCOPED_TRACE(::testing::Message() << language << ", seed " << seed);
            std::mt19937 rng(seed);
            const std::string text = random_text(rng);
            std::vector<Token> by_fast;
            std::vector<Token> by_slow;
            TokenWriter fast_writer(by_fast);
            TokenWriter slow_writer(by_slow);
            fast.run(text, fast_writer, stop_words);
            slow.run(text, slow_writer, stop_words);
            ASSERT_EQ(by_fast, by_slow) << text;
        }
    }
}

TEST(StandardAnalyzer, PlacesPlainWordsOfTwoTextsOneAfterTheOther) {
    const Analyzer analyzer = make_analyzer();
    const std::string a = "the quick brown foxes";
    const std::string b = "jumped over lazy dogs";
    std::vector<Token> expected = tokens_of(analyzer, a);
    const auto words = static_cast<std::uint32_t>(expected.size());
    const auto shift = static_cast<std::uint32_t>(a.size() + 1);
    for (Token token : tokens_of(analyzer, b)) {
        token.position += words;
        token.begin += shift;
        token.end += shift;
        expected.push_back(token);
    }
    EXPECT_EQ(tokens_of(analyzer, a + " " + b), expected);
}

TEST(StandardAnalyzer, NeedsNoMoreMemoryForALineWithoutSpaces) {
    const Analyzer analyzer = make_analyzer();
    static constexpr std::size_t kRepeats = 200'000;
    const auto repeated = [](std::string_view piece) {
        std::string text;
        for (std::size_t i = 0; i < kRepeats; ++i) text += piece;
        return text;
    };
    EXPECT_EQ(analyzer.terms(repeated("a")).size(), 1U);
    EXPECT_EQ(analyzer.terms(repeated("я")).size(), 1U);
    EXPECT_EQ(analyzer.terms(repeated("_")).size(), 0U);
    EXPECT_EQ(analyzer.terms(repeated("7")).size(), 1U);
    EXPECT_EQ(analyzer.terms("e" + repeated("\u0301")).size(), 1U);
    EXPECT_EQ(analyzer.terms(repeated("\u0301")).size(), 0U);
    EXPECT_LT(analyzer.terms(repeated("aB")).size(), kMaxTermBytes);
    EXPECT_EQ(analyzer.terms(repeated("\u00ad")).size(), 0U);
}

}  // namespace
}  // namespace braid::text
