#include "braid/retrieval/typos.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

Request words(std::string query, std::vector<std::string> collections = {"notes"}) {
    Request request;
    request.query = std::move(query);
    request.collections = std::move(collections);
    request.strategy = Strategy::Sparse;
    return request;
}

Answer ask(const Backend& store, const Request& request, const Principal& principal = {}) {
    auto answer = Retriever(store, fake_query_embedder(), application_options())
                      .retrieve(request, principal, {});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer.value_or(Answer{});
}

std::vector<std::string> ids(const Answer& answer) {
    std::vector<std::string> out;
    for (const Hit& hit : answer.hits) out.push_back(hit.chunk.chunk_id);
    return out;
}

std::vector<Chunk> animals() {
    return {chunk_of("fox", "a fox hunting at dusk"), chunk_of("owl", "the owl of the barn"),
            chunk_of("hen", "hens receive corn in the barn"),
            chunk_of("river", "the quiet river at night")};
}

TEST(Typos, AWordThatNoChunkHoldsIsSearchedAsItsNeighbours) {
    LocalStore store;
    store.add("notes", animals());
    const Answer answer = ask(store, words("quiett rivr"));
    EXPECT_EQ(ids(answer), std::vector<std::string>{"river"});
    EXPECT_EQ(answer.corrections, (std::vector<Correction>{{"notes", "quiett", "quiet", 0.5},
                                                           {"notes", "rivr", "river", 0.5}}));
    ASSERT_EQ(answer.warnings.size(), 2U);
    EXPECT_NE(answer.warnings[0].find("\"quiet\" was searched"), std::string::npos);
    EXPECT_FALSE(answer.query_understood);  // it is no query language to whoever asked
    EXPECT_TRUE(answer.hits.front().receipt.sources.front().corrected);
    // Two letters off.
    const Answer two = ask(store, words("rescieve corn"));
    ASSERT_EQ(two.corrections.size(), 1U);
    EXPECT_EQ(two.corrections[0].instead, "receive");
    EXPECT_DOUBLE_EQ(two.corrections[0].weight, 1.0 / 3);
}

TEST(Typos, AMisspeltEndingIsReadByTheWordAndNotByItsStem) {
    LocalStore store;
    store.add("notes", animals());
    const Answer answer = ask(store, words("huntign"));
    EXPECT_EQ(ids(answer), std::vector<std::string>{"fox"});
    ASSERT_EQ(answer.corrections.size(), 1U);
    EXPECT_EQ(answer.corrections[0].instead, "hunting");
}

TEST(Typos, NeighboursShareWhatTheWordCounts) {
    LocalStore store;
    store.add("notes",
              {chunk_of("a", "a river"), chunk_of("b", "the river"), chunk_of("c", "rivet")});
    const Answer answer = ask(store, words("rivex"));
    EXPECT_EQ(answer.corrections,
              (std::vector<Correction>{{"notes", "rivex", "river", 2.0 / 3 / 2},
                                       {"notes", "rivex", "rivet", 1.0 / 3 / 2}}));
}

TEST(Typos, CountLessThanTheWordItself) {
    LocalStore store;
    store.add("notes", animals());
    const Answer right = ask(store, words("river"));
    const Answer wrong = ask(store, words("rivver"));
    ASSERT_EQ(ids(right), ids(wrong));
    EXPECT_LT(wrong.hits.front().score, right.hits.front().score);
    EXPECT_GT(wrong.hits.front().score, 0);
}

TEST(Typos, LeaveWhatIsKnownAsItIs) {
    LocalStore store;
    store.add("notes", animals());
    Request off = words("barn owl in the barn");
    off.typos = false;
    const Answer with = ask(store, words("barn owl in the barn"));
    const Answer without = ask(store, off);
    EXPECT_TRUE(with.corrections.empty());
    EXPECT_EQ(with.hits, without.hits);
    // Beside a misspelt word, the others count as they did.
    const Answer beside = ask(store, words("barn owl zzzzzz in the barn"));
    EXPECT_EQ(beside.hits, without.hits);
}

TEST(Typos, CanBeTurnedOff) {
    LocalStore store;
    store.add("notes", animals());
    Request request = words("rivver");
    request.typos = false;
    const Answer answer = ask(store, request);
    EXPECT_TRUE(answer.hits.empty());
    EXPECT_TRUE(answer.corrections.empty());
}

TEST(Typos, WordsOfAnotherLanguageAreLeftAlone) {
    LocalStore store;
    store.add("notes", animals());
    EXPECT_EQ(ask(store, words("wie hoch ist der rivver")).corrections.size(), 0U);
    EXPECT_EQ(ask(store, words("how high is the rivver")).corrections.size(), 1U);
}

TEST(Typos, NumbersAndIdentifiersAreNeverTouched) {
    for (const std::string_view word : {"fix", "1234", "abc1", "B2B4", "get_name", "a-b-c-d",
                                        "NASA", "camelCase", "x.y.z.w", ""}) {
        EXPECT_FALSE(may_be_misspelt(word)) << word;
    }
    for (const std::string_view word : {"rivver", "Rivver", "größe", "река"}) {
        EXPECT_TRUE(may_be_misspelt(word)) << word;
    }
    LocalStore store;
    store.add("notes", {chunk_of("a", "error code E4021"), chunk_of("b", "getNames")});
    EXPECT_TRUE(ask(store, words("E4022")).corrections.empty());
    Request off = words("E4022");
    off.typos = false;
    EXPECT_EQ(ask(store, words("E4022")).hits, ask(store, off).hits);
    EXPECT_TRUE(ask(store, words("getName")).corrections.empty());
}

TEST(Typos, AWordThatAnotherCollectionHoldsIsNone) {
    LocalStore store;
    store.add("notes", {chunk_of("a", "the quiet river")});
    store.add("others", {chunk_of("b", "a rivet of steel")});
    const Answer answer = ask(store, words("rivet", {"notes", "others"}));
    EXPECT_TRUE(answer.corrections.empty());
    EXPECT_EQ(ids(answer), std::vector<std::string>{"b"});
}

TEST(Typos, HiddenChunksHaveNoPartInIt) {
    const Principal guest{.clearance = "normal", .scopes = {}};
    Chunk hidden = chunk_of("hidden", "rivver rivvet");
    hidden.sensitivity = "restricted";
    LocalStore with;
    with.add("notes", animals());
    with.add("notes", {hidden});
    LocalStore without;
    without.add("notes", animals());
    for (const char* const query : {"rivver", "rivvets", "quiett rivvet"}) {
        const Answer a = ask(with, words(query), guest);
        const Answer b = ask(without, words(query), guest);
        EXPECT_EQ(a.corrections, b.corrections) << query;
        EXPECT_EQ(ids(a), ids(b)) << query;
        ASSERT_EQ(a.hits.size(), b.hits.size());
        for (std::size_t i = 0; i < a.hits.size(); ++i) {
            EXPECT_EQ(a.hits[i].receipt, b.hits[i].receipt);
        }
    }
    // Who may see it finds the word itself.
    EXPECT_EQ(ids(ask(with, words("rivver"))), std::vector<std::string>{"hidden"});
}

TEST(Typos, PagesOfACorrectedQueryFitTogether) {
    LocalStore store;
    std::vector<Chunk> chunks;
    for (int i = 0; i < 12; ++i) {
        chunks.push_back(chunk_of("c" + std::to_string(i),
                                  "river" + std::string(i % 3 == 0 ? " river" : "") + " stone"));
    }
    store.add("notes", chunks);
    Request request = words("rivver");
    request.top_k = 12;
    const auto whole = ids(ask(store, request));
    ASSERT_EQ(whole.size(), 12U);
    const Retriever retriever(store, fake_query_embedder(), application_options());
    request.top_k = 5;
    std::vector<std::string> joined;
    auto page = retriever.retrieve(request, {}, {});
    while (page) {
        for (const std::string& id : ids(*page)) joined.push_back(id);
        EXPECT_EQ(page->corrections.size(), 1U);
        for (const Hit& hit : page->hits) EXPECT_TRUE(hit.receipt.sources.front().corrected);
        if (!page->cursor) break;
        Request next;
        next.cursor = *page->cursor;
        page = retriever.retrieve(next, {}, {});
    }
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(joined, whole);
}

}  // namespace
}  // namespace braid::retrieval
