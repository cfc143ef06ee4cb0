// The promises of an answer, over random collections and requests.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/apps/vocabulary.hpp"
#include "braid/json/json.hpp"
#include "braid/retrieval/retriever.hpp"
#include "braid/wire/answer_json.hpp"
#include "core/present.hpp"
#include "retrieval/local_store.hpp"
#include "retrieval/random_store.hpp"
#include "retrieval/receipt_checker.hpp"

namespace braid::retrieval {
namespace {

/// An answer as a reader gets it, without what no promise covers: times, the cursor, and the
/// versions that writes happened to give.
std::string shown(Answer answer) {
    answer.timings = {};
    answer.cursor.reset();
    for (SourceReport& report : answer.sources) report.time_ms = 0;
    for (Hit& hit : answer.hits) hit.chunk.version = 0;
    return json::print(wire::answer_to_value(answer, apps::vocabulary()));
}

bool has_cut(const Request& request) {
    return request.score_threshold ||
           std::ranges::any_of(request.stages, [](const StageChoice& stage) {
               return stage.name == "min_score" || stage.name == "relative_score" ||
                      stage.name == "largest_gap";
           });
}

TEST(Promises, ReceiptsGiveTheScoresBitForBitFromJsonAlone) {
    std::map<std::string, int> methods;
    std::size_t hits = 0;
    for (unsigned seed = 0; seed < 1500; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        LocalStore store;
        fill(store, rng);
        const Retriever retriever(store, fake_query_embedder(), fixed_clock());
        for (int i = 0; i < 3; ++i) {
            Request request = random_request(rng);
            request.top_k = 1 + rng() % 40;
            const auto answer = retriever.retrieve(request, {}, {});
            ASSERT_TRUE(answer) << answer.error().message;
            const auto parsed =
                json::parse(json::print(wire::answer_to_value(*answer, apps::vocabulary())));
            ASSERT_TRUE(parsed);
            EXPECT_EQ(check_receipts(*parsed), "");
            hits += answer->hits.size();
            for (const Hit& hit : answer->hits) {
                const Receipt* receipt = &hit.receipt;
                if (receipt->sources[0].nested) receipt = receipt->sources[0].nested.get();
                ++methods[receipt->preset.value_or("") + "/" + receipt->method];
            }
        }
    }
    EXPECT_GT(hits, 10'000U);
    EXPECT_EQ(methods.size(), 16U);  // none, multi_hop, four of ours, ten presets
}

TEST(Promises, ACheckerWouldNoticeAWrongBit) {
    std::mt19937 rng(1);
    LocalStore store;
    fill(store, rng);
    Request request;
    request.query = "fox";
    request.collections = {"artifacts", "artifact_chunks"};
    request.stages = {{"decay_by_age", {}}};
    auto answer = Retriever(store, fake_query_embedder(), fixed_clock()).retrieve(request, {}, {});
    ASSERT_TRUE(answer && !answer->hits.empty());
    EXPECT_EQ(check_receipts(wire::answer_to_value(*answer, apps::vocabulary())), "");
    const auto notices = [&](double& number) {
        const double before = number;
        number = std::nextafter(number, 1e9);
        EXPECT_NE(check_receipts(wire::answer_to_value(*answer, apps::vocabulary())), "");
        number = before;
    };
    Hit& hit = answer->hits.front();
    notices(hit.score);
    notices(hit.receipt.score);
    notices(hit.receipt.fused);
    notices(hit.receipt.sources.at(0).contribution);
    notices(hit.receipt.sources.at(0).nested->fused);
    notices(hit.receipt.sources.at(0).nested->sources.at(0).contribution);
}

TEST(Promises, ACheckerWouldNoticeAWrongBitOfAChoice) {
    std::mt19937 rng(1);
    LocalStore store;
    fill(store, rng);
    Request request;
    request.query = "red fox";
    request.collections = {"artifact_chunks"};
    request.fusion.method = FusionMethod::Auto;
    auto answer = Retriever(store, fake_query_embedder(), fixed_clock()).retrieve(request, {}, {});
    ASSERT_TRUE(answer && !answer->hits.empty() && answer->hits.front().receipt.choice);
    const auto complaints = [&] {
        return check_receipts(wire::answer_to_value(*answer, apps::vocabulary()));
    };
    EXPECT_EQ(complaints(), "");
    ReceiptChoice& choice = *answer->hits.front().receipt.choice;
    const auto notices = [&](double& number) {
        const double before = number;
        number += 0.125;
        EXPECT_NE(complaints(), "");
        number = before;
    };
    notices(choice.base);
    notices(choice.dense_weight);
    for (ReceiptSignal& signal : choice.signals) notices(signal.value);
    notices(answer->hits.front().receipt.sources.at(0).weight);
}

/// Fails some legs: at random, but always the same ones.
struct Faults {
    std::set<std::pair<std::string, LegKind>> down;

    static Faults random(std::mt19937& rng, const Request& request) {
        Faults faults;
        for (const std::string& name : request.collections) {
            for (const LegKind kind : {LegKind::Dense, LegKind::Sparse}) {
                if (rng() % 3 == 0) faults.down.emplace(name, kind);
            }
        }
        return faults;
    }
    bool hits(const std::string& collection, LegKind kind) const {
        return down.contains({collection, kind});
    }
};

TEST(Promises, ReportWhatRanUnderFaults) {
    std::size_t errors = 0;
    std::size_t degraded = 0;
    for (unsigned seed = 0; seed < 600; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        LocalStore store;
        fill(store, rng);
        Request request = random_request(rng);
        request.stages.clear();
        std::erase(request.collections, "history");
        if (request.collections.empty()) request.collections = {"memory"};
        const Faults faults = Faults::random(rng, request);
        const std::size_t kind = rng() % 5;
        store.leg_fault = [&](const Leg& leg) -> std::optional<Error> {
            if (kind > 2 || !faults.hits(leg.scope.collection, leg.kind)) return std::nullopt;
            if (kind == 0) throw std::runtime_error("index on fire");
            return Error{kind == 1 ? ErrorCode::DeadlineExceeded : ErrorCode::IoError, "too late"};
        };
        store.leg_garbage = [&](const Leg& leg, LegResult& result) {
            if (kind < 3 || !faults.hits(leg.scope.collection, leg.kind)) return;
            LegHit hit{"garbage", kind == 3 ? std::numeric_limits<double>::quiet_NaN() : 1.0};
            result.hits.push_back(hit);
            result.hits.push_back(std::move(hit));
        };
        const bool dense = request.strategy != Strategy::Sparse;
        const bool sparse =
            request.strategy == Strategy::Sparse || request.strategy == Strategy::Hybrid;
        std::size_t asked = 0;
        std::size_t down = 0;
        for (const std::string& name : request.collections) {
            asked += static_cast<std::size_t>(dense) + static_cast<std::size_t>(sparse);
            if (dense && faults.hits(name, LegKind::Dense)) ++down;
            if (sparse && faults.hits(name, LegKind::Sparse)) ++down;
        }
        const auto answer =
            Retriever(store, fake_query_embedder(), fixed_clock()).retrieve(request, {}, {});
        ASSERT_EQ(answer.has_value(), down < asked);
        if (!answer) {
            ++errors;
            continue;
        }
        EXPECT_EQ(answer->complete, down == 0);
        EXPECT_EQ(answer->sources.size(), asked);
        std::size_t total = 0;
        for (const SourceReport& report : answer->sources) {
            const LegKind leg = report.source == "dense" ? LegKind::Dense : LegKind::Sparse;
            EXPECT_EQ(report.ran, !faults.hits(report.collection, leg));
            EXPECT_EQ(report.error.empty(), report.ran);
            total += report.candidates;
        }
        EXPECT_EQ(answer->total_candidates, total);
        if (down == 0) continue;
        ++degraded;
        EXPECT_GE(answer->warnings.size(), down);
    }
    EXPECT_GT(errors, 20U);
    EXPECT_GT(degraded, 50U);
}

TEST(Promises, FallShortOnlyWhenNoMoreExist) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        LocalStore store;
        fill(store, rng);
        const Retriever retriever(store, fake_query_embedder(), fixed_clock());
        Request request = random_request(rng);
        if (has_cut(request) || request.strategy == Strategy::MultiHop) continue;
        request.top_k = 1 + rng() % 60;
        const auto answer = retriever.retrieve(request, {}, {});
        Request deep = request;
        deep.top_k = 1000;
        deep.dense_top_k = 1000;
        deep.sparse_top_k = 1000;
        const auto all = retriever.retrieve(deep, {}, {});
        ASSERT_TRUE(answer && all);
        EXPECT_EQ(answer->hits.size(), std::min(present(request.top_k), all->hits.size()));
    }
}

TEST(Promises, OrderAndScoresDoNotDependOnTopK) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        LocalStore store;
        fill(store, rng);
        const Retriever retriever(store, fake_query_embedder(), fixed_clock());
        Request request = random_request(rng);
        const auto few = retriever.retrieve(request, {}, {});
        request.top_k = present(request.top_k) + 1 + rng() % 50;
        const auto more = retriever.retrieve(request, {}, {});
        ASSERT_TRUE(few && more);
        ASSERT_LE(few->hits.size(), more->hits.size());
        EXPECT_TRUE(std::equal(few->hits.begin(), few->hits.end(), more->hits.begin()));
    }
}

/// The same content in another order of writes, one by one, with chunks that come and go.
void fill_otherwise(LocalStore& store, const LocalStore& like, std::mt19937& rng) {
    std::vector<std::pair<std::string, Chunk>> writes;
    for (const std::string name : {"artifacts", "artifact_chunks", "memory"}) {
        const auto snapshot = like.snapshot(std::vector<std::string>{name}, {});
        const ReadScope scope{name, "default", {}, std::nullopt};
        const auto chunks = (*snapshot)->scan(scope, "", 10'000, true);
        for (const Chunk& chunk : *chunks) writes.emplace_back(name, chunk);
    }
    std::shuffle(writes.begin(), writes.end(), rng);
    for (const auto& [name, chunk] : writes) {
        store.add(name, {chunk});
        if (rng() % 3 != 0) continue;
        store.add(name, {chunk_of("passing", random_words(rng, 5))});
        const ReadScope scope{name, "default", {}, std::nullopt};
        ASSERT_TRUE(store.remove(scope, {.chunk_ids = {"passing"}}, {}));
    }
}

TEST(Promises, SameContentSameAnswerHoweverWrittenAndFromManyThreads) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        LocalStore store;
        fill(store, rng);
        LocalStore other;
        fill_otherwise(other, store, rng);
        const Retriever retriever(store, fake_query_embedder(), fixed_clock());
        const Retriever elsewhere(other, fake_query_embedder(), fixed_clock());
        std::vector<Request> requests;
        std::vector<std::string> expected;
        for (int i = 0; i < 6; ++i) {
            requests.push_back(random_request(rng));
            expected.push_back(shown(*retriever.retrieve(requests.back(), {}, {})));
            EXPECT_EQ(shown(*elsewhere.retrieve(requests.back(), {}, {})), expected.back());
        }
        std::atomic<int> wrong = 0;
        std::vector<std::thread> threads;
        threads.reserve(3);
        for (std::size_t t = 0; t < 3; ++t) {
            threads.emplace_back([&, t] {
                for (std::size_t i = 0; i < requests.size(); ++i) {
                    const std::size_t which = (i + t) % requests.size();
                    const auto answer = retriever.retrieve(requests[which], {}, {});
                    if (!answer || shown(*answer) != expected[which]) ++wrong;
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(wrong, 0);
    }
}

TEST(Promises, HiddenChunksChangeNothing) {
    const Principal reader{"reader", "normal", {}};
    for (unsigned seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        LocalStore store;
        fill(store, rng);
        const Retriever retriever(store, fake_query_embedder(), fixed_clock());
        std::vector<Request> requests;
        std::vector<std::string> before;
        for (int i = 0; i < 4; ++i) {
            requests.push_back(random_request(rng));
            before.push_back(shown(*retriever.retrieve(requests.back(), reader, {})));
        }
        for (const std::string name : {"artifacts", "artifact_chunks", "memory"}) {
            std::vector<Chunk> hidden;
            for (int i = 0; i < 5; ++i) {
                Chunk chunk = chunk_of("hidden" + std::to_string(i), random_words(rng, 6));
                chunk.document_id = "art" + std::to_string(i);
                chunk.sensitivity = "restricted";
                hidden.push_back(std::move(chunk));
            }
            store.add(name, std::move(hidden));
        }
        for (std::size_t i = 0; i < requests.size(); ++i) {
            EXPECT_EQ(shown(*retriever.retrieve(requests[i], reader, {})), before[i]);
        }
    }
}

}  // namespace
}  // namespace braid::retrieval
