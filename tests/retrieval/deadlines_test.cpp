#include "braid/retrieval/deadlines.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/forwarding.hpp"
#include "braid/retrieval/retriever.hpp"
#include "core/present.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {
namespace {

/// Which reads were made, and which of them without what the caller's limits say.
struct Reads {
    std::mutex mutex;
    std::multiset<std::string> made;
    std::multiset<std::string> without_deadline;
    std::multiset<std::string> without_stop;

    void note(const std::string& read, const CallLimits& limits) {
        const std::scoped_lock lock(mutex);
        made.insert(read);
        if (!limits.deadline) without_deadline.insert(read);
        if (!limits.stop.stop_possible()) without_stop.insert(read);
    }
};

class NotedReader final : public ForwardingReader {
public:
    NotedReader(ReaderPtr inner, CallLimits limits, Reads& reads)
        : ForwardingReader(std::move(inner)), limits_(std::move(limits)), reads_(reads) {}

    ReaderPtr with(const CallLimits& limits) const override {
        return std::make_shared<NotedReader>(inner().with(limits), limits, reads_);
    }
    std::vector<Result<LegResult>> search(std::span<const Leg> legs) const override {
        reads_.note("search", limits_);
        return inner().search(legs);
    }
    Result<std::vector<std::optional<double>>> score(
        const Leg& leg, std::span<const std::string> chunk_ids) const override {
        reads_.note("score", limits_);
        return inner().score(leg, chunk_ids);
    }
    Result<std::vector<std::optional<std::uint64_t>>> rank_of(
        const Leg& leg, std::span<const std::string> chunk_ids) const override {
        reads_.note("rank_of", limits_);
        return inner().rank_of(leg, chunk_ids);
    }
    Result<std::vector<std::optional<Chunk>>> fetch(const ReadScope& scope,
                                                    std::span<const std::string> chunk_ids,
                                                    bool with_vectors) const override {
        reads_.note("fetch", limits_);
        return inner().fetch(scope, chunk_ids, with_vectors);
    }
    Result<std::vector<Suggestion>> suggest(const ReadScope& scope, std::string_view text,
                                            std::size_t limit) const override {
        reads_.note("suggest", limits_);
        return inner().suggest(scope, text, limit);
    }

private:
    ReaderPtr wrap(ReaderPtr inner) const override {
        return std::make_shared<NotedReader>(std::move(inner), limits_, reads_);
    }

    CallLimits limits_;
    Reads& reads_;
};

class NotedBackend final : public ForwardingBackend {
public:
    explicit NotedBackend(std::unique_ptr<Backend> inner) : ForwardingBackend(std::move(inner)) {}

    Result<ReaderPtr> snapshot(std::span<const std::string> names,
                               const CallLimits& limits) const override {
        BRAID_TRY(ReaderPtr found, inner().snapshot(names, limits));
        return ReaderPtr(std::make_shared<NotedReader>(std::move(found), limits, reads));
    }

    mutable Reads reads;
};

class Deadlines : public ::testing::Test {
protected:
    Deadlines() {
        auto store = std::make_unique<LocalStore>();
        store->add("default", {chunk_of("a", "d", 0, "foxes hunt"), chunk_of("b", "d", 1, "owls"),
                               chunk_of("c", "d", 2, "foxes sleep by day")});
        backend = std::make_unique<NotedBackend>(std::move(store));
        retriever =
            std::make_unique<Retriever>(*backend, fake_query_embedder(), application_options());
        limits.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
        limits.stop = stop.get_token();
        request.query = "foxes";
    }

    using Names = std::multiset<std::string>;

    std::unique_ptr<NotedBackend> backend;
    std::unique_ptr<Retriever> retriever;
    std::stop_source stop;
    CallLimits limits;
    Request request;
};

TEST_F(Deadlines, ReachEveryReadButThoseOfHitsThatWereRanked) {
    request.explain = true;
    request.fusion.method = FusionMethod::WeightedSum;
    request.fusion.fill_scores = true;
    ASSERT_TRUE(retriever->retrieve(request, {}, limits));
    EXPECT_EQ(backend->reads.without_deadline, Names{"fetch"}) << "what was ranked is shown";
    EXPECT_EQ(backend->reads.without_stop, Names{});
    for (const char* const read : {"search", "score", "rank_of"}) {
        EXPECT_TRUE(backend->reads.made.contains(read)) << read;
    }
}

TEST_F(Deadlines, ReachWhatHopsRead) {
    request.strategy = Strategy::MultiHop;
    request.max_hops = 2;
    request.hop_top_k = 1;
    const auto answer = retriever->retrieve(request, {}, limits);
    ASSERT_TRUE(answer);
    EXPECT_EQ(backend->reads.made, (Names{"fetch", "fetch", "search", "search"}));
    EXPECT_EQ(backend->reads.without_deadline, Names{"fetch"}) << "that of the hits";
    EXPECT_EQ(backend->reads.without_stop, Names{});
}

TEST_F(Deadlines, ReachWhatTheFilterOfAStageReads) {
    request.stages = {{"boost_fields", {{"filter", Object{{"kind", "x"}}}, {"factor", 2}}}};
    const auto answer = retriever->retrieve(request, {}, limits);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(backend->reads.made.count("fetch"), 2U);
    EXPECT_EQ(backend->reads.without_deadline, Names{"fetch"}) << "the chunks that it looks at";
    EXPECT_EQ(backend->reads.without_stop, Names{});
}

TEST_F(Deadlines, ReachEveryReadThatAsksWhyAChunkIsMissing) {
    request.top_k = 1;
    request.filter = Filter::compare(Filter::Op::Eq, "document_id", Value("d"));
    const auto why = retriever->why_not(request, "b", {}, limits);
    ASSERT_TRUE(why) << why.error().message;
    EXPECT_EQ(backend->reads.without_stop, Names{});
    const Names& without = backend->reads.without_deadline;
    EXPECT_LT(without.size(), backend->reads.made.count("fetch")) << "hits only, not its own reads";
    EXPECT_EQ(without.count("fetch"), without.size());

    limits.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
    const auto late = retriever->why_not(request, "b", {}, limits);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::DeadlineExceeded);
}

TEST_F(Deadlines, ReachSuggestions) {
    request.query = "foxez";
    request.typos = false;
    request.strategy = Strategy::Sparse;
    ASSERT_TRUE(retriever->retrieve(request, {}, limits));
    EXPECT_TRUE(backend->reads.made.contains("suggest"));
    EXPECT_EQ(backend->reads.without_deadline, Names{});
}

TEST_F(Deadlines, OfOnePageAreNotThoseOfTheNext) {
    request.top_k = 1;
    const auto first = retriever->retrieve(request, {}, limits);
    ASSERT_TRUE(first && first->cursor);
    stop.request_stop();
    Request next;
    next.cursor = *first->cursor;
    const auto second = retriever->retrieve(next, {}, {});
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(second->hits.size(), 1U);
}

}  // namespace
}  // namespace braid::retrieval
