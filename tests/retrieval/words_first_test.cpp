// Words never wait for vectors. Latches decide who comes first; the times below are far longer than
// anything here takes, and only end a test that hangs.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

using std::chrono::milliseconds;

/// Opened once; waiting for it in vain fails the test instead of hanging it.
class Gate {
public:
    void open() {
        const std::scoped_lock lock(mutex_);
        is_open_ = true;
        opened_.notify_all();
    }
    bool wait() {
        std::unique_lock lock(mutex_);
        return opened_.wait_for(lock, std::chrono::seconds(60), [&] { return is_open_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool is_open_ = false;
};

/// Heeds neither deadline nor reason, only a request to stop.
template <class T>
Result<T> hang(const CallLimits& limits) {
    while (!limits.stopped()) std::this_thread::sleep_for(milliseconds(1));
    return fail(ErrorCode::Cancelled, "stopped at last");
}

QueryEmbedder hanging_embedder() {
    return [](const Schema&, std::string_view, const CallLimits& limits) {
        return hang<QueryVector>(limits);
    };
}

class HangingModel final : public QueryPreprocessor {
public:
    Result<std::vector<std::string>> expand(std::string_view, const CallLimits& l) const override {
        return hang<std::vector<std::string>>(l);
    }
    Result<std::string> hypothetical_answer(std::string_view, const CallLimits& l) const override {
        return hang<std::string>(l);
    }
};

class WordsFirst : public ::testing::Test {
protected:
    WordsFirst() {
        store.add("default",
                  {chunk_of("fox", "the fox hunts at dusk"), chunk_of("owl", "the owl is a bird")});
        request.query = "fox";
    }

    LocalStore store;
    Request request;
};

bool warns_of(const Answer& answer, const std::string& words) {
    return std::ranges::any_of(answer.warnings, [&](const std::string& warning) {
        return warning.find(words) != std::string::npos;
    });
}

TEST_F(WordsFirst, AreSearchedWhileTheQueryIsEmbedded) {
    Gate words_searched;
    store.leg_fault = [&](const Leg& leg) -> std::optional<Error> {
        if (leg.kind == LegKind::Sparse) words_searched.open();
        return std::nullopt;
    };
    std::atomic<bool> in_time = false;
    const Retriever retriever(
        store,
        [&](const Schema&, std::string_view text, const CallLimits&) -> Result<QueryVector> {
            in_time = words_searched.wait();
            return QueryVector{fake_embed(text), false, {}};
        },
        application_options());
    const auto answer = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(in_time);
    EXPECT_TRUE(answer->complete);
    EXPECT_TRUE(answer->hits.front().dense_score && answer->hits.front().sparse_score);
}

TEST_F(WordsFirst, AnswerAloneWhenTheEmbedderHangs) {
    const Retriever retriever(store, hanging_embedder(), application_options());
    request.deadline_ms = 400;
    const auto answer = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->hits.size(), 1U);
    EXPECT_EQ(answer->hits.front().chunk.chunk_id, "fox");
    EXPECT_FALSE(answer->complete);
    EXPECT_TRUE(warns_of(*answer,
                         "the dense leg failed; the answer comes from the other: "
                         "embedding the query: the deadline passed"));
    ASSERT_EQ(answer->sources.size(), 2U);
    EXPECT_FALSE(answer->sources.front().ran);
    EXPECT_FALSE(answer->sources.front().error.empty());
    EXPECT_TRUE(answer->sources.back().ran);
}

TEST_F(WordsFirst, FillAllPagesOfAnAnswerThatTheyBegan) {
    store.add("default", {chunk_of("cub", "a fox cub is a young fox")});
    std::atomic<int> asked = 0;
    const Retriever retriever(
        store,
        [&](const Schema&, std::string_view text, const CallLimits&) -> Result<QueryVector> {
            if (++asked == 1) return fail(ErrorCode::Unavailable, "down for a moment");
            return QueryVector{fake_embed(text), false, {}};
        },
        application_options());
    request.top_k = 1;
    const auto first = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(first) << first.error().message;
    ASSERT_TRUE(first->cursor.has_value());
    Request next;
    next.cursor = first->cursor.value_or("");
    const auto second = retriever.retrieve(next, {}, {});
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(second->hits.size(), 1U);
    EXPECT_EQ(second->warnings, first->warnings);
    EXPECT_FALSE(second->complete);
    EXPECT_TRUE(retriever.retrieve(request, {}, {})->complete);
}

TEST_F(WordsFirst, TheEmbedderIsGivenLessTimeThanTheAnswer) {
    std::optional<std::chrono::steady_clock::time_point> given;
    const Retriever retriever(
        store,
        [&](const Schema&, std::string_view, const CallLimits& limits) -> Result<QueryVector> {
            given = limits.deadline;
            EXPECT_TRUE(limits.interactive);
            return fail(ErrorCode::Unavailable, "down");
        },
        application_options());
    CallLimits limits;
    limits.deadline = std::chrono::steady_clock::now() + std::chrono::minutes(10);
    ASSERT_TRUE(retriever.retrieve(request, {}, limits));
    EXPECT_EQ(given, *limits.deadline - milliseconds(200));
}

TEST_F(WordsFirst, WithoutThemADeadlineIsAnError) {
    const Retriever retriever(store, hanging_embedder(), application_options());
    request.deadline_ms = 50;
    for (const Strategy strategy : {Strategy::Dense, Strategy::MultiHop}) {
        request.strategy = strategy;
        const auto answer = retriever.retrieve(request, {}, {});
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, ErrorCode::DeadlineExceeded);
    }
}

TEST_F(WordsFirst, ACallerWhoGoesAwayEndsTheWait) {
    std::stop_source stop;
    const Retriever retriever(
        store,
        [&](const Schema&, std::string_view, const CallLimits& limits) {
            stop.request_stop();
            return hang<QueryVector>(limits);
        },
        application_options());
    CallLimits limits;
    limits.stop = stop.get_token();
    const auto answer = retriever.retrieve(request, {}, limits);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::Cancelled);
}

TEST_F(WordsFirst, OfTwoEmbeddersOneThatHangsCostsItsOwnCollectionOnly) {
    store.add("other", {chunk_of("elk", "an elk is no fox")}, "fake2");
    const Retriever retriever(
        store,
        [&](const Schema& schema, std::string_view text,
            const CallLimits& limits) -> Result<QueryVector> {
            if (schema.vectors.embedder == "fake2") return hang<QueryVector>(limits);
            return QueryVector{fake_embed(text), false, {}};
        },
        application_options());
    request.collections = {"default", "other"};
    request.deadline_ms = 400;
    const auto answer = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_FALSE(answer->complete);
    for (const SourceReport& report : answer->sources) {
        EXPECT_EQ(report.ran, report.collection == "default" || report.source == "sparse");
    }
}

TEST_F(WordsFirst, AHypotheticalAnswerIsNotWaitedForByThem) {
    class SlowModel final : public QueryPreprocessor {
    public:
        explicit SlowModel(Gate& gate) : gate_(gate) {}
        Result<std::vector<std::string>> expand(std::string_view,
                                                const CallLimits&) const override {
            return std::vector<std::string>{};
        }
        Result<std::string> hypothetical_answer(std::string_view,
                                                const CallLimits&) const override {
            if (!gate_.wait()) return fail(ErrorCode::Unavailable, "words waited");
            return std::string("owls hunt at night");
        }

    private:
        Gate& gate_;
    };
    Gate words_searched;
    store.leg_fault = [&](const Leg& leg) -> std::optional<Error> {
        if (leg.kind == LegKind::Sparse) words_searched.open();
        return std::nullopt;
    };
    RetrieverOptions options = application_options();
    options.preprocessor = std::make_shared<SlowModel>(words_searched);
    const Retriever retriever(store, fake_query_embedder(), options);
    request.use_hyde = true;
    const auto answer = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->hypothetical_answer, "owls hunt at night");
}

TEST_F(WordsFirst, ALanguageModelThatHangsLeavesThePlainQuery) {
    RetrieverOptions options = application_options();
    options.preprocessor = std::make_shared<HangingModel>();
    const Retriever retriever(store, fake_query_embedder(), options);
    request.expand_query = true;
    request.use_hyde = true;
    request.deadline_ms = 600;
    const auto answer = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->hits.front().chunk.chunk_id, "fox");
    EXPECT_TRUE(warns_of(*answer, "the query was not expanded; the plain query was searched"));
    EXPECT_TRUE(warns_of(*answer, "there is no hypothetical answer"));
    EXPECT_TRUE(answer->phrasings.empty());
    EXPECT_FALSE(answer->hypothetical_answer.has_value());
}

TEST_F(WordsFirst, WhatIsRememberedNeedsNoEmbedder) {
    RetrieverOptions options = application_options();
    options.remembered = [](const Schema&, std::string_view text, const CallLimits&) {
        return std::optional(QueryVector{fake_embed(text), true, {"said before"}});
    };
    const Retriever retriever(
        store,
        [](const Schema&, std::string_view, const CallLimits&) -> Result<QueryVector> {
            return fail(ErrorCode::Unavailable, "asked though the vector is known");
        },
        options);
    const auto answer = retriever.retrieve(request, {}, {});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(answer->complete);
    EXPECT_EQ(answer->query_embedding_cached, true);
    EXPECT_EQ(answer->warnings, std::vector<std::string>{"said before"});
}

TEST_F(WordsFirst, AVectorOfTheWrongLengthIsTheCallersMistakeWithThemToo) {
    const Retriever retriever(store, fake_query_embedder(), application_options());
    request.query_embedding = {1.0F, 2.0F};
    for (const Strategy strategy : {Strategy::Hybrid, Strategy::Dense}) {
        request.strategy = strategy;
        const auto answer = retriever.retrieve(request, {}, {});
        ASSERT_FALSE(answer);
        EXPECT_EQ(answer.error().code, ErrorCode::InvalidArgument);
        EXPECT_NE(answer.error().message.find("2"), std::string::npos) << answer.error().message;
    }
}

}  // namespace
}  // namespace braid::retrieval
