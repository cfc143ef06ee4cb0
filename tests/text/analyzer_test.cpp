#include "braid/text/analyzer.hpp"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "braid/text/stop_words.hpp"
#include "text/analysis.hpp"

namespace braid::text {
namespace {

TEST(Analyzer, KnowsLanguagesByNameCodeAndLocale) {
    for (const auto& [given, full] :
         std::vector<std::pair<std::string, std::string>>{{"english", "english"},
                                                          {"English", "english"},
                                                          {"en", "english"},
                                                          {"eng", "english"},
                                                          {"en-US", "english"},
                                                          {"de", "german"},
                                                          {"ger", "german"},
                                                          {"de_AT", "german"},
                                                          {"fr", "french"},
                                                          {"ru", "russian"},
                                                          {"ar", "arabic"},
                                                          {"pt-BR", "portuguese"},
                                                          {"nb", "norwegian"},
                                                          {"el", "greek"},
                                                          {"none", "none"},
                                                          {"porter", "porter"}}) {
        const auto made = Analyzer::create({"standard", given, false});
        ASSERT_TRUE(made) << given;
        EXPECT_EQ(made->options().language, full);
    }
    for (const std::string_view language : analyzer_languages()) {
        EXPECT_TRUE(Analyzer::create({"standard", std::string(language), false})) << language;
    }
    EXPECT_GE(analyzer_languages().size(), 20U);
}

TEST(Analyzer, NamesTheNearestLanguagesWhenItDoesNotKnowOne) {
    const auto made = Analyzer::create({"standard", "germna", false});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(made.error().message.find("'germna'"), std::string::npos);
    EXPECT_NE(made.error().message.find("are 'german', "), std::string::npos)
        << made.error().message;
    for (const std::string& wrong : {std::string(), std::string("xx"), std::string("-"),
                                     std::string("\xFF\xFE"), std::string(100'000, 'x')}) {
        const auto refused = Analyzer::create({"standard", wrong, false});
        ASSERT_FALSE(refused);
        EXPECT_LT(refused.error().message.size(), 300U);
    }
}

TEST(Analyzer, RefusesUnknownNamesAndStopWordsItDoesNotHave) {
    const auto unknown = Analyzer::create({"standart", "english", false});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(unknown.error().message.find("did you mean 'standard'"), std::string::npos)
        << unknown.error().message;
    const auto no_language = Analyzer::create({"standard", "none", true});
    ASSERT_FALSE(no_language);
    EXPECT_EQ(no_language.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(no_language.error().message.find("'none'"), std::string::npos)
        << no_language.error().message;
}

TEST(Analyzer, LeavesStopWordsOutButCountsTheirPositions) {
    const auto tokens = tokens_of(make_analyzer("english", true), "The state-of-the-art of it");
    EXPECT_EQ(tokens, (std::vector<Token>{
                          {"state-of-the-art", 1, 4, 20}, {"state", 1, 4, 9}, {"art", 4, 17, 20}}));
    EXPECT_EQ(shown(make_analyzer(), "The art of it"), "the art of it");
}

TEST(Analyzer, LeavesStopWordsOutOfQueriesThatHaveOthers) {
    using Terms = std::vector<std::string>;
    const Analyzer english = make_analyzer();
    EXPECT_EQ(english.query_terms("the keeper of the lamps"), (Terms{"keeper", "lamp"}));
    EXPECT_EQ(english.terms("the lamps"), (Terms{"the", "lamp"})) << "texts keep theirs";
    EXPECT_EQ(english.query_terms("to be or to be"), english.terms("to be or to be"));
    EXPECT_EQ(english.query_terms(""), Terms{});
    const Analyzer without = make_analyzer("english", true);
    EXPECT_EQ(without.query_terms("the lamps"), Terms{"lamp"});
    EXPECT_EQ(without.query_terms("the"), Terms{});
    const Analyzer german = make_analyzer("german");
    EXPECT_EQ(german.query_terms("the lamps"), german.terms("the lamps"));
    EXPECT_EQ(german.query_terms("Wer putzte die Lampen?"), german.terms("putzte Lampen"));
    EXPECT_EQ(german.query_terms("Wer bist du nicht"), german.terms("bist nicht")) << "negation";
    const Analyzer none = make_analyzer("none");
    EXPECT_EQ(none.query_terms("the lamps"), (Terms{"the", "lamps"}));
    const Analyzer simple = simple_analyzer();
    EXPECT_EQ(simple.query_terms("The lamps"), (Terms{"the", "lamps"}));
}

TEST(Analyzer, KnowsFunctionWordsOfEveryLanguageItStems) {
    for (const std::string_view language : analyzer_languages()) {
        if (language == "none") continue;
        EXPECT_FALSE(StopWords::of(language).empty()) << language;
    }
    EXPECT_TRUE(StopWords::of("none").empty());
    EXPECT_TRUE(StopWords::of("klingon").empty());
    const auto in = [](const char* language, const char* query) {
        return make_analyzer(language).query_terms(query).size();
    };
    EXPECT_EQ(in("french", "où est la ville"), 1U);
    EXPECT_EQ(in("russian", "Где находится это озеро?"), 2U);
    EXPECT_EQ(in("greek", "Πού είναι ο φάρος;"), 1U);
    EXPECT_EQ(in("turkish", "Bu göl nerede"), 1U);
    EXPECT_EQ(in("arabic", "أين البحيرة"), 1U);
    EXPECT_EQ(in("hindi", "झील कहाँ है"), 1U);
}

/// A list is looked up by words as the analyzer makes them: folded, composed.
TEST(Analyzer, EveryStopWordIsLeftOutOfAQuery) {
    for (const std::string_view language : analyzer_languages()) {
        const Analyzer analyzer = make_analyzer(language);
        for (const std::string_view word : StopWords::of(language).words()) {
            std::vector<Token> tokens;
            analyzer.analyze_content(word, tokens);
            EXPECT_TRUE(tokens.empty()) << language << ": " << word;
        }
    }
}

TEST(Analyzer, ReplacesWhatTheVectorHeld) {
    const Analyzer analyzer = make_analyzer();
    std::vector<Token> tokens = tokens_of(analyzer, "one two three four");
    analyzer.analyze("five", tokens);
    EXPECT_EQ(tokens, (std::vector<Token>{{"five", 0, 0, 4}}));
    analyzer.analyze("", tokens);
    EXPECT_TRUE(tokens.empty());
}

TEST(Analyzer, TakesInvalidBytesForSeparators) {
    const Analyzer analyzer = make_analyzer("none");
    EXPECT_EQ(shown(analyzer,
                    "ab\xFF"
                    "cd\xC3 \xE2\x82x \xED\xA0\x80y\xF4\x90\x80\x80"),
              "ab cd x y");
    EXPECT_EQ(shown(analyzer, "a-\xFF-b"), "a b");
    EXPECT_EQ(shown(analyzer, std::string(100, '\xFF')), "");
}

TEST(Analyzer, AnswersManyThreadsAtOnce) {
    const Analyzer analyzer = make_analyzer();
    static constexpr int kTexts = 200;
    std::vector<std::string> texts;
    texts.reserve(kTexts);
    for (int i = 0; i < kTexts; ++i) {
        texts.push_back("Running getUserName" + std::to_string(i) + " caf\u00e9s in 東京都 v1." +
                        std::to_string(i));
    }
    std::vector<std::vector<Token>> expected;
    expected.reserve(texts.size());
    for (const std::string& text : texts) expected.push_back(tokens_of(analyzer, text));
    std::vector<int> wrong(4, 0);
    {
        std::vector<std::jthread> threads;
        threads.reserve(wrong.size());
        for (int& mine : wrong) {
            threads.emplace_back([&, copy = analyzer] {
                std::vector<Token> tokens;
                for (std::size_t i = 0; i < texts.size(); ++i) {
                    copy.analyze(texts[i], tokens);
                    mine += tokens == expected[i] ? 0 : 1;
                }
            });
        }
    }
    EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace braid::text
