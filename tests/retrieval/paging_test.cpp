#include "braid/retrieval/paging.hpp"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "core/present.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"
#include "retrieval/random_store.hpp"

namespace braid::retrieval {
namespace {

using Ids = std::vector<std::string>;

RetrieverOptions options_at(Timestamp now) {
    RetrieverOptions options = application_options();
    options.now = [now] { return now; };
    return options;
}

/// A store with chunks c100, c101, ... that all match the query "fox".
void fill_with_foxes(LocalStore& store, int count) {
    std::vector<Chunk> chunks;
    chunks.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        chunks.push_back(chunk_of("c" + std::to_string(100 + i),
                                  "fox " + std::string(static_cast<std::size_t>(i % 7) + 1, 'x')));
    }
    store.add("default", std::move(chunks));
}

Request foxes(std::size_t top_k) {
    Request request;
    request.query = "fox";
    request.top_k = top_k;
    return request;
}

Request page_of(const Answer& answer) {
    Request request;
    request.cursor = answer.cursor.value_or("");
    return request;
}

TEST(Paging, GivesPagesThatJoinedEqualOneLargePage) {
    int paged = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        LocalStore store;
        fill(store, rng);
        const Retriever retriever(store, fake_query_embedder(), options_at(kRandomNow));
        Request request = random_request(rng);
        auto page = retriever.retrieve(request, {}, {});
        ASSERT_TRUE(page) << page.error().message;
        std::vector<Hit> joined = page->hits;
        if (page->cursor) ++paged;
        for (int pages = 0; page->cursor; ++pages) {
            ASSERT_LT(pages, 200);
            Request next;
            next.cursor = present(page->cursor);
            if (rng() % 2 == 0) next.top_k = 1 + rng() % 9;
            page = retriever.retrieve(next, {}, {});
            ASSERT_TRUE(page) << page.error().message;
            joined.insert(joined.end(), page->hits.begin(), page->hits.end());
        }
        request.top_k = 1000;
        const auto all = retriever.retrieve(request, {}, {});
        ASSERT_TRUE(all);
        EXPECT_EQ(joined, all->hits);
        EXPECT_FALSE(all->cursor);
        for (std::size_t i = 0; i < joined.size(); ++i) EXPECT_EQ(joined[i].rank, i + 1);
    }
    EXPECT_GT(paged, 200);
}

TEST(Paging, KeepsTheSnapshotTheDepthAndTheClockOfTheFirstPage) {
    LocalStore store;
    fill_with_foxes(store, 30);
    Timestamp now = kRandomNow;
    RetrieverOptions options = application_options();
    options.now = [&] { return now; };
    int embedded = 0;
    const auto counting = [&](const Schema& schema, std::string_view text,
                              const CallLimits& limits) {
        ++embedded;
        return fake_query_embedder()(schema, text, limits);
    };
    const Retriever retriever(store, counting, options);
    Request request = foxes(25);
    request.profile = "service";  // its depth follows top_k
    request.stages = {{"decay_by_age", {}}};
    request.dense_top_k = 7;
    const auto first = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(first) << first.error().message;
    ASSERT_TRUE(first->cursor);
    now.micros += 86'400'000'000;
    store.add("default", {chunk_of("a", "fox"), chunk_of("b", "fox")});
    Request next = page_of(*first);
    next.top_k = 2;
    const auto second = retriever.retrieve(next, {}, {});
    ASSERT_TRUE(second) << second.error().message;
    ASSERT_EQ(second->hits.size(), 2U);
    EXPECT_EQ(second->hits[0].rank, 26U);
    for (const Hit& hit : second->hits) EXPECT_EQ(hit.chunk.chunk_id.front(), 'c');
    EXPECT_EQ(second->sources.at(0).depth, 7U);
    EXPECT_EQ(second->sources.at(1).depth, 50U);
    EXPECT_EQ(embedded, 1);
}

TEST(Paging, TakesTheSameCursorAgainAndTheRequestRepeated) {
    LocalStore store;
    fill_with_foxes(store, 30);
    const Retriever retriever(store, fake_query_embedder(), options_at(kRandomNow));
    const Request request = foxes(4);
    const auto first = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(first && first->cursor);
    const auto second = retriever.retrieve(page_of(*first), {}, {});
    ASSERT_TRUE(second);
    EXPECT_EQ(second->hits.size(), 4U);
    Request repeated = request;
    repeated.cursor = present(first->cursor);
    const auto again = retriever.retrieve(repeated, {}, {});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->hits, second->hits);
    EXPECT_EQ(again->cursor, second->cursor);
    for (const auto& change : std::vector<std::function<void(Request&)>>{
             [](Request& r) { r.query = "owl"; }, [](Request& r) { r.dense_top_k = 3; },
             [](Request& r) { r.strategy = Strategy::Dense; }}) {
        Request other = repeated;
        change(other);
        const auto answer = retriever.retrieve(other, {}, {});
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, ErrorCode::InvalidArgument);
    }
}

TEST(Paging, GivesNoCursorOnTheLastPage) {
    LocalStore store;
    fill_with_foxes(store, 6);
    const Retriever retriever(store, fake_query_embedder(), options_at(kRandomNow));
    EXPECT_FALSE(retriever.retrieve(foxes(6), {}, {})->cursor);
    EXPECT_TRUE(retriever.retrieve(foxes(5), {}, {})->cursor);
    Request none = foxes(5);
    none.query = "nothing";
    none.strategy = Strategy::Sparse;
    EXPECT_FALSE(retriever.retrieve(none, {}, {})->cursor);
}

TEST(Paging, ForgetsTheOldestCursorsAndSaysSo) {
    LocalStore store;
    fill_with_foxes(store, 9);
    RetrieverOptions options = options_at(kRandomNow);
    options.cursors.entries = 2;
    const Retriever retriever(store, fake_query_embedder(), options);
    const auto first = retriever.retrieve(foxes(2), {}, {});
    ASSERT_TRUE(retriever.retrieve(foxes(3), {}, {}));
    ASSERT_TRUE(retriever.retrieve(page_of(*first), {}, {}));  // used, so younger than the second
    ASSERT_TRUE(retriever.retrieve(foxes(4), {}, {}));
    EXPECT_TRUE(retriever.retrieve(page_of(*first), {}, {}));
    ASSERT_TRUE(retriever.retrieve(foxes(5), {}, {}));
    ASSERT_TRUE(retriever.retrieve(foxes(6), {}, {}));
    const auto gone = retriever.retrieve(page_of(*first), {}, {});
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().code, ErrorCode::NotFound);
    EXPECT_NE(gone.error().message.find("expired"), std::string::npos);
}

TEST(Paging, NobodysSearchesEndTheCursorsOfAnother) {
    CursorTable table({.entries = 100});
    const auto pinned_by = [](const std::string& name) {
        auto pinned = std::make_shared<Pinned>();
        pinned->principal.name = name;
        return pinned;
    };
    std::vector<std::string> cursors;
    for (std::size_t i = 0; i < 50; ++i) cursors.push_back(table.keep(pinned_by("quiet"), i));
    std::string newest;
    for (std::size_t i = 0; i < 1000; ++i) newest = table.keep(pinned_by("busy"), i);
    for (const std::string& cursor : cursors) {
        EXPECT_TRUE(table.find(cursor, pinned_by("quiet")->principal)) << cursor;
    }
    EXPECT_TRUE(table.find(newest, pinned_by("busy")->principal));
    // Who asks for more than a share loses what it used longest ago.
    for (std::size_t i = 0; i < 60; ++i) cursors.push_back(table.keep(pinned_by("quiet"), i));
    EXPECT_FALSE(table.find(cursors.front(), pinned_by("quiet")->principal));
    EXPECT_TRUE(table.find(cursors.back(), pinned_by("quiet")->principal));
    EXPECT_TRUE(table.find(newest, pinned_by("busy")->principal));
}

TEST(Paging, ForgetsCursorsAfterAWhile) {
    auto now = std::chrono::steady_clock::time_point();
    CursorTable table({.entries = 10, .lifetime = std::chrono::seconds(60)}, [&] { return now; });
    const std::string cursor = table.keep(std::make_shared<Pinned>(), 20);
    now += std::chrono::seconds(50);
    const auto found = table.find(cursor, {});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->offset, 20U);
    now += std::chrono::seconds(50);
    EXPECT_TRUE(table.find(CursorTable::next(found->id, 40), {}));
    now += std::chrono::seconds(61);
    const auto expired = table.find(cursor, {});
    ASSERT_FALSE(expired);
    EXPECT_NE(expired.error().message.find("60 seconds"), std::string::npos);
}

TEST(Paging, ForgetsCursorsAtAnAgeHoweverOftenTheyAreUsed) {
    auto now = std::chrono::steady_clock::time_point();
    CursorTable table(
        {.entries = 10, .lifetime = std::chrono::seconds(60), .max_age = std::chrono::seconds(120)},
        [&] { return now; });
    const std::string cursor = table.keep(std::make_shared<Pinned>(), 20);
    for (int used = 0; used < 4; ++used) {
        now += std::chrono::seconds(30);
        EXPECT_TRUE(table.find(cursor, {}));
    }
    now += std::chrono::seconds(1);
    const auto expired = table.find(cursor, {});
    ASSERT_FALSE(expired);
    EXPECT_EQ(expired.error().code, ErrorCode::NotFound);
    EXPECT_NE(expired.error().message.find("for 120 in all"), std::string::npos);
    EXPECT_FALSE(table.find(cursor, {}));
}

TEST(Paging, IsForThePrincipalThatBegan) {
    LocalStore store;
    fill_with_foxes(store, 9);
    const Retriever retriever(store, fake_query_embedder(), options_at(kRandomNow));
    const Principal reader{"reader", "normal", {}};
    const auto first = retriever.retrieve(foxes(2), reader, {});
    ASSERT_TRUE(first && first->cursor) << first.error().message;
    const auto other = retriever.retrieve(page_of(*first), {}, {});
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, ErrorCode::NotFound);
    EXPECT_TRUE(retriever.retrieve(page_of(*first), reader, {}));
}

TEST(Paging, RefusesWhatIsNoCursor) {
    LocalStore store;
    fill_with_foxes(store, 9);
    const Retriever retriever(store, fake_query_embedder(), options_at(kRandomNow));
    const std::string good = present(retriever.retrieve(foxes(2), {}, {})->cursor);
    const Ids bad{"x",
                  "-",
                  good.substr(0, 16),
                  good.substr(0, 17),
                  good + "x",
                  good + "99999999999999999999",
                  "zzzzzzzzzzzzzzzz-1",
                  std::string(100'000, '0'),
                  std::string("0000000000000000-\0", 18),
                  "0000000000000000--1",
                  "\xff\xfe"};
    for (const std::string& text : bad) {
        SCOPED_TRACE(text.substr(0, 40));
        Request request;
        request.cursor = text;
        const auto answer = retriever.retrieve(request, {}, {});
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, ErrorCode::InvalidArgument);
    }
    Request huge;
    huge.cursor = good.substr(0, 17) + "100000000";
    const auto beyond = retriever.retrieve(huge, {}, {});
    ASSERT_TRUE(beyond) << beyond.error().message;
    EXPECT_TRUE(beyond->hits.empty());
    EXPECT_FALSE(beyond->cursor);
}

TEST(Paging, RefusesAPageThatWouldNotFitToTheFirst) {
    LocalStore store;
    fill_with_foxes(store, 30);
    const Retriever retriever(store, fake_query_embedder(), options_at(kRandomNow));
    const auto dense_down = [](const Leg& leg) -> std::optional<Error> {
        if (leg.kind == LegKind::Sparse) return std::nullopt;
        return Error{ErrorCode::Unavailable, "no vectors today"};
    };
    const auto whole = retriever.retrieve(foxes(5), {}, {});
    store.leg_fault = dense_down;
    const auto half = retriever.retrieve(foxes(5), {}, {});
    ASSERT_TRUE(whole && half);
    EXPECT_FALSE(half->complete);
    const auto worse = retriever.retrieve(page_of(*whole), {}, {});
    ASSERT_FALSE(worse);
    EXPECT_EQ(worse.error().code, ErrorCode::Unavailable);
    EXPECT_NE(worse.error().message.find("no vectors today"), std::string::npos);
    const auto same = retriever.retrieve(page_of(*half), {}, {});
    ASSERT_TRUE(same) << same.error().message;
    EXPECT_FALSE(same->complete);
    store.leg_fault = nullptr;
    EXPECT_FALSE(retriever.retrieve(page_of(*half), {}, {}));
    EXPECT_TRUE(retriever.retrieve(page_of(*whole), {}, {}));
}

TEST(Paging, CanBeDoneFromManyThreads) {
    LocalStore store;
    fill_with_foxes(store, 40);
    RetrieverOptions options = options_at(kRandomNow);
    options.cursors.entries = 1000;
    const Retriever retriever(store, fake_query_embedder(), options);
    const auto expected = retriever.retrieve(foxes(40), {}, {});
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int round = 0; round < 10; ++round) {
                auto page = retriever.retrieve(foxes(7), {}, {});
                std::vector<Hit> joined = page->hits;
                while (page && page->cursor) {
                    page = retriever.retrieve(page_of(*page), {}, {});
                    if (page) joined.insert(joined.end(), page->hits.begin(), page->hits.end());
                }
                EXPECT_EQ(joined, expected->hits);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace braid::retrieval
