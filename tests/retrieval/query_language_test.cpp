#include "braid/retrieval/query_language.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/fake_backend.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

const std::vector<TextField>& fields() {
    static const std::vector<TextField> all{{"title"}, {"content"}, {"metadata.kind"}};
    return all;
}

/// How a query is understood, or what is wrong with it.
std::string read(std::string_view text) {
    const ParsedQuery parsed = parse_query(text, fields());
    return parsed.clause ? written(*parsed.clause) : "! " + parsed.problem;
}

TEST(QueryLanguage, EveryFormIsRead) {
    for (const std::string_view text :
         {"word", "\"a phrase\"", "+must -not", "title:word", "prefix*", "fuzy~1", "fuzy~2",
          "word^2", "word^0.5", "(a b) c", "+(a -b)", "\"near these\"~5", "title:\"a b\"~3^2.5",
          "-title:pre*", "+metadata.kind:x", "C++ c# foo-bar a+b", "日本 +東京*"}) {
        EXPECT_EQ(read(text), text);
    }
    EXPECT_EQ(read("fuzy~"), "fuzy~1");
    EXPECT_EQ(read("  a\t b\u3000c "), "a b c");
    EXPECT_EQ(read("title:(a +b content:c)^2"), "(title:a^2 +title:b^2 content:c^2)");
    EXPECT_EQ(read("(a^3 b)^2"), "(a^6 b^2)");
    EXPECT_EQ(read("\\+a \\\"b\\\" c\\*"), "\\+a \\\"b\\\" c\\*");
    EXPECT_EQ(read("\"say \\\"so\\\"\""), "\"say \\\"so\\\"\"");
    EXPECT_EQ(read("a\"b c\"d"), "a \"b c\" d");
    EXPECT_EQ(read(""), "");
}

TEST(QueryLanguage, WhatIsNoOperatorIsText) {
    EXPECT_EQ(read("std::vector http://x 12:30 a:"), "std::vector http://x 12\\:30 a\\:");
    EXPECT_EQ(read("x*y a~b ~/home"), "x\\*y a\\~b \\~/home");
    const ParsedQuery unknown = parse_query("titel:word", fields());
    ASSERT_EQ(unknown.notes.size(), 1U);
    EXPECT_EQ(unknown.notes.front(), "there is no text field \"titel\": it was searched as a word");
}

TEST(QueryLanguage, ProblemsSayWhatAndWhere) {
    EXPECT_EQ(read("a \"b"), "! the quotation mark at character 3 is never closed");
    EXPECT_EQ(read("ä (b"), "! the parenthesis at character 3 is never closed");
    EXPECT_EQ(read("a)"), "! the parenthesis at character 2 was never opened");
    EXPECT_EQ(read("()"), "! the parenthesis at character 2 is empty");
    EXPECT_EQ(read("a - b"), "! the sign at character 3 has nothing after it");
    EXPECT_EQ(read("a +"), "! the sign at character 3 has nothing after it");
    EXPECT_EQ(read("*"), "! the star at character 1 stands alone");
    EXPECT_EQ(read("a^b"), "! the ^ at character 2 needs a number from 0.001 to 1000 after it");
    EXPECT_EQ(read("a^0").substr(0, 7), "! the ^");
    EXPECT_EQ(read("a~3"),
              "! the tilde at character 2 takes 1 or 2 after a word: how many wrong letters");
    EXPECT_EQ(read("\"a b\"~").substr(0, 11), "! the tilde");
    EXPECT_EQ(read("\"a b\"~99999999999").substr(0, 11), "! the tilde");
    EXPECT_EQ(read(std::string(40, '(') + "a"),
              "! the parenthesis at character 33 is nested too deeply");
    std::string many;
    for (int i = 0; i < 2000; ++i) many += "a ";
    EXPECT_EQ(read(many), "! it has more than 1024 clauses");
    std::string patterns;
    for (int i = 0; i < 20; ++i) patterns += "a* ";
    EXPECT_EQ(read(patterns), "! it has more than 16 patterns");
}

/// Whatever it is given, the parser ends, and what it understood reads the same again.
TEST(QueryLanguage, FuzzedTextsAreReadTheSameTwice) {
    std::mt19937_64 rng(11);
    const std::vector<std::string> pieces{
        "a",  "word",    "\"",     "(",     ")",    "+",    "-",      "^",
        "2",  "0.5",     "~",      "*",     "\\",   " ",    " ",      ":",
        "ti", "title:",  "\u3000", "\xFF",  "\xC3", "ü",    "::",     "//",
        "1",  "\"a b\"", "(a)",    "^1000", "~1",   "\x01", "\u202E", "👩‍👩‍👧"};
    for (int i = 0; i < 200'000; ++i) {
        std::string text;
        for (std::uint64_t n = rng() % 14; n > 0; --n) text += pieces[rng() % pieces.size()];
        const ParsedQuery first = parse_query(text, fields());
        ASSERT_NE(first.clause.has_value(), !first.problem.empty()) << text;
        if (!first.clause) continue;
        const std::string again = written(*first.clause);
        const ParsedQuery second = parse_query(again, fields());
        ASSERT_TRUE(second.clause) << text << " -> " << again << ": " << second.problem;
        ASSERT_EQ(*second.clause, *first.clause) << text << " -> " << again;
    }
}

class Language : public ::testing::Test {
protected:
    Language() {
        store.add("default",
                  {chunk_of("a", "the red fox hunts the brown owl"),
                   chunk_of("b", "a fox that is red and brown"), chunk_of("c", "owls sleep by day"),
                   chunk_of("d", "foxes and owls, foxes and owls")});
    }

    Answer ask(const std::string& query) const {
        Request request;
        request.query = query;
        request.query_syntax = true;
        request.strategy = Strategy::Sparse;
        const Retriever retriever(store, fake_query_embedder(), application_options());
        auto answer = retriever.retrieve(request, {}, {});
        EXPECT_TRUE(answer) << answer.error().message;
        return answer ? *std::move(answer) : Answer{};
    }
    std::vector<std::string> found(const std::string& query) const {
        std::vector<std::string> ids;
        for (const Hit& hit : ask(query).hits) ids.push_back(hit.chunk.chunk_id);
        std::ranges::sort(ids);
        return ids;
    }

    LocalStore store;
};

using Ids = std::vector<std::string>;

TEST_F(Language, FindsWhatItSays) {
    EXPECT_EQ(found("\"red fox\""), Ids{"a"});
    EXPECT_EQ(found("\"fox red\""), Ids{});
    EXPECT_EQ(found("\"fox red\"~2"), (Ids{"a", "b"}));
    EXPECT_EQ(found("+fox +owl"), (Ids{"a", "d"}));
    EXPECT_EQ(found("fox -owl"), Ids{"b"});
    EXPECT_EQ(found("owl -\"brown owl\""), (Ids{"c", "d"}));
    EXPECT_EQ(found("slee*"), Ids{"c"});
    EXPECT_EQ(found("foks~1"), (Ids{"a", "b", "d"}));
    EXPECT_EQ(found("+owl +(sleep red)"), (Ids{"a", "c"}));
    EXPECT_EQ(found("title:fox"), Ids{});
    EXPECT_EQ(found("content:fox"), (Ids{"a", "b", "d"}));
    EXPECT_EQ(found("-fox"), Ids{});
    EXPECT_EQ(found("+the fox"), (Ids{"a"})) << "said explicitly, a function word counts";
    EXPECT_EQ(found("the and sleep"), Ids{"c"}) << "otherwise it does not";
}

TEST_F(Language, TheAnswerSaysHowItWasRead) {
    const Answer answer = ask("+fox^2 hunt*");
    EXPECT_EQ(answer.query_understood, "+fox^2 hunt*");
    EXPECT_EQ(answer.warnings, std::vector<std::string>());
    ASSERT_EQ(answer.sources.size(), 1U);
    ASSERT_EQ(answer.sources.front().patterns.size(), 1U);
    EXPECT_EQ(answer.sources.front().patterns.front(), (PatternWords{"hunt*", {"hunt"}, 1}));

    const Answer plain = ask("fox \"owl");
    EXPECT_EQ(plain.query_understood, std::nullopt);
    EXPECT_EQ(plain.warnings,
              std::vector<std::string>{
                  "the query was searched as plain words, because it is "
                  "not in query language: the quotation mark at character 5 is never "
                  "closed"});
    EXPECT_EQ(plain.hits.size(), 4U);
}

TEST_F(Language, BoostsAndPhrasesWeigh) {
    const Answer boosted = ask("sleep^100 fox");
    ASSERT_FALSE(boosted.hits.empty());
    EXPECT_EQ(boosted.hits.front().chunk.chunk_id, "c");
    const Answer phrase = ask("fox \"brown owl\"");
    ASSERT_FALSE(phrase.hits.empty());
    EXPECT_EQ(phrase.hits.front().chunk.chunk_id, "a");
}

TEST_F(Language, WhyNotSpeaksItToo) {
    Request request;
    request.query = "+fox -owl";
    request.query_syntax = true;
    request.strategy = Strategy::Sparse;
    const Retriever retriever(store, fake_query_embedder(), application_options());
    const auto why = retriever.why_not(request, "a", {}, {});
    ASSERT_TRUE(why) << why.error().message;
    EXPECT_EQ(why->lost_at, "not_reached");
    EXPECT_EQ(why->explanation.query_understood, "+fox -owl");
    const auto shown = retriever.explain(request, "b", {}, {});
    ASSERT_TRUE(shown);
    ASSERT_EQ(shown->legs.size(), 1U);
    EXPECT_EQ(shown->legs.front().rank, 1U);
}

TEST_F(Language, HybridSaysWhatItBinds) {
    Request request;
    request.query = "+fox -owl";
    request.query_syntax = true;
    const Retriever retriever(store, fake_query_embedder(), application_options());
    const auto answer = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->warnings.size(), 1U);
    EXPECT_NE(answer->warnings.front().find("dense leg"), std::string::npos);
}

}  // namespace
}  // namespace braid::retrieval
