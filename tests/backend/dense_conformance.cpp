#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stop_token>

#include "backend/conformance.hpp"
#include "backend/random_data.hpp"

namespace braid::testing {
namespace {

TEST_P(BackendConformance, ComparesVectorsExactly) {
    if (!promised().exact_dense) GTEST_SKIP() << "the backend does not promise exact_dense";
    for (const Metric metric : {Metric::Cosine, Metric::Dot, Metric::Euclidean}) {
        for (const std::size_t dimension : {1UL, 3UL, 16UL, 100UL}) {
            SCOPED_TRACE(::testing::Message() << name_of(metric) << " dimension " << dimension);
            RandomData random(static_cast<unsigned>(dimension));
            const Schema schema = vectors_schema(dimension, metric);
            create(schema, std::string(name_of(metric)) + "-" + std::to_string(dimension));
            Model model = model_of(schema);
            std::vector<Chunk> chunks;
            for (int i = 0; i < 60; ++i) {
                Chunk chunk = random.chunk(dimension);
                chunk.chunk_id += "-" + std::to_string(i);
                if (i % 2 == 0) chunk.vector = random.real_vector(dimension);
                model.upsert("default", chunk);
                chunks.push_back(std::move(chunk));
            }
            put(chunks);
            for (int i = 0; i < 4; ++i) {
                Leg leg = vector_leg(
                    scope(), i % 2 == 0 ? random.real_vector(dimension) : random.vector(dimension));
                leg.exact = true;
                if (i >= 2) leg.scope.filter = random.filter();
                expect_list(leg, model);
            }
        }
    }
}

TEST_P(BackendConformance, EqualScoresAreOrderedByTheBytesOfTheIds) {
    create(vectors_schema(2, Metric::Dot));
    std::vector<Chunk> chunks;
    for (const char* id : {"b", "a", "\xc3\xa9", "B", "ab", "~", "10", "9"}) {
        chunks.push_back(make_chunk(id, "same words", {1, 1}));
    }
    put(chunks);
    const Ids ordered{"10", "9", "B", "a", "ab", "b", "~", "\xc3\xa9"};
    EXPECT_EQ(find_near({1, 0}), ordered);
    EXPECT_EQ(find_words("same"), ordered);
    EXPECT_EQ(ids_of(search(vector_leg(scope(), {1, 0}, 3))), (Ids{"10", "9", "B"}));
    expect_matched(search(vector_leg(scope(), {1, 0}, 3)), 8);
    EXPECT_TRUE(search(vector_leg(scope(), {1, 0}, 0)).hits.empty());
}

TEST_P(BackendConformance, AListOfEqualScoresIsCutByTheBytesOfTheIds) {
    create(vectors_schema(2, Metric::Dot));
    std::vector<Chunk> chunks;
    Ids ids;
    for (int i = 90; i >= 10; --i) {
        ids.push_back("c" + std::to_string(i));
        chunks.push_back(make_chunk(ids.back(), "same words", {1, 1}));
    }
    put(chunks);
    std::ranges::sort(ids);
    for (const std::size_t depth : {1UL, 20UL, 60UL, 80UL}) {
        const Ids first(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(depth));
        EXPECT_EQ(ids_of(search(words_leg(scope(), {"same"}, depth))), first);
        Leg near = vector_leg(scope(), {1, 0}, depth);
        near.exact = true;
        EXPECT_EQ(ids_of(search(near)), first);
    }
}

TEST_P(BackendConformance, HigherIsBetterForEveryMetric) {
    for (const Metric metric : {Metric::Cosine, Metric::Dot, Metric::Euclidean}) {
        create(vectors_schema(2, metric), std::string(name_of(metric)));
        put({make_chunk("far", "x", {-3, 0}), make_chunk("near", "x", {2, 0})});
        const LegResult result = search(vector_leg(scope(), {2, 0}));
        EXPECT_EQ(ids_of(result), (Ids{"near", "far"})) << name_of(metric);
        if (metric == Metric::Euclidean) {
            EXPECT_EQ(result.hits.at(0).score, 0.0);
            EXPECT_FALSE(std::signbit(result.hits.at(0).score)) << "nobody wants to read -0";
            EXPECT_EQ(result.hits.at(1).score, -5.0);
        }
    }
}

TEST_P(BackendConformance, RefusesQueryVectorsThatCannotBeCompared) {
    create(vectors_schema(2));
    const auto refused = [&](std::vector<float> vector, const std::string& part) {
        const Leg leg = vector_leg(scope(), std::move(vector));
        const Ids ids{"a"};
        expect_error(now()->search_leg(leg), ErrorCode::InvalidArgument, part);
        expect_error(now()->score(leg, ids), ErrorCode::InvalidArgument, part);
        if (promised().whole_ranking) {
            expect_error(now()->rank_of(leg, ids), ErrorCode::InvalidArgument, part);
        }
    };
    for (const bool filled : {false, true}) {
        if (filled) put({make_chunk("a", "x", {1, 0})});
        refused({}, "vector");
        refused({1, 2, 3}, "3 dimensions");
        refused({0, 0}, "zeros");
        refused({1, std::numeric_limits<float>::quiet_NaN()}, "finite");
        refused({1, std::numeric_limits<float>::infinity()}, "finite");
    }
    create(vectors_schema(2, Metric::Dot), "dot");
    put({make_chunk("a", "x", {0, 0})});
    EXPECT_EQ(search(vector_leg(scope(), {0, 0})).hits.at(0).score, 0.0);
}

TEST_P(BackendConformance, ExtremeVectorsHaveFiniteScores) {
    const float large = std::numeric_limits<float>::max();
    const float tiny = std::numeric_limits<float>::denorm_min();
    for (const Metric metric : {Metric::Cosine, Metric::Dot, Metric::Euclidean}) {
        create(vectors_schema(2, metric), std::string(name_of(metric)));
        put({make_chunk("large", "x", {large, large}), make_chunk("tiny", "x", {tiny, 0})});
        for (const std::vector<float>& query :
             {std::vector<float>{large, -large}, std::vector<float>{tiny, tiny}}) {
            for (const LegHit& hit : search(vector_leg(scope(), query)).hits) {
                EXPECT_TRUE(std::isfinite(hit.score)) << name_of(metric) << " " << hit.chunk_id;
            }
        }
    }
}

TEST_P(BackendConformance, ScoresOfUnknownChunksAreNone) {
    create(vectors_schema(2));
    put({make_chunk("a", "word", {1, 0}), make_chunk("b", "other", {0, 1})});
    const Ids ids{"b", "unknown", "a", "a"};
    const auto dense = must(now()->score(vector_leg(scope(), {1, 0}), ids));
    EXPECT_EQ(dense, (std::vector<std::optional<double>>{0.0, std::nullopt, 1.0, 1.0}));
    const auto sparse = must(now()->score(words_leg(scope(), {"word"}), ids));
    EXPECT_EQ(sparse.at(0), 0.0);
    EXPECT_EQ(sparse.at(1), std::nullopt);
    EXPECT_GT(present(sparse.at(2)), 0.0);
    if (!promised().whole_ranking) {
        expect_error(now()->rank_of(words_leg(scope(), {"word"}, 1), ids), ErrorCode::Unsupported);
        return;
    }
    const auto ranks = must(now()->rank_of(words_leg(scope(), {"word"}, 1), ids));
    EXPECT_EQ(ranks, (std::vector<std::optional<std::uint64_t>>{std::nullopt, std::nullopt, 1, 1}));
    const auto dense_ranks = must(now()->rank_of(vector_leg(scope(), {1, 0}, 1), ids));
    EXPECT_EQ(dense_ranks, (std::vector<std::optional<std::uint64_t>>{2, std::nullopt, 1, 1}));
}

TEST_P(BackendConformance, SearchRunsAllLegsAndEachFailsOnItsOwn) {
    create(vectors_schema(2));
    put({make_chunk("a", "word", {1, 0}), make_chunk("b", "other", {0, 1})});
    const ReadScope elsewhere = scope_of("missing");
    const std::vector<Leg> legs{vector_leg(scope(), {1, 0}), words_leg(elsewhere, {"word"}),
                                words_leg(scope(), {"word"}), vector_leg(scope(), {1, 2, 3})};
    const auto results = now()->search(legs);
    ASSERT_EQ(results.size(), 4U);
    EXPECT_EQ(ids_of(must(results[0])), (Ids{"a", "b"}));
    expect_error(results[1], ErrorCode::NotFound, "missing");
    EXPECT_EQ(ids_of(must(results[2])), Ids{"a"});
    expect_error(results[3], ErrorCode::InvalidArgument, "dimensions");
    EXPECT_FALSE(results[0]->method.empty());
    EXPECT_TRUE(results[0]->exact);
    EXPECT_GE(results[0]->time_ms, 0.0);
    EXPECT_TRUE(now()->search({}).empty());
}

TEST_P(BackendConformance, GivesUpWhenToldTo) {
    create(vectors_schema(2));
    put({make_chunk("a", "word", {1, 0})});
    const CallLimits late = late_call();
    const CallLimits stopped = stopped_call();
    const CallLimits patient = patient_call();
    for (const Leg& leg : {words_leg(scope(), {"word"}), vector_leg(scope(), {1, 0})}) {
        expect_error(now()->with(late)->search_leg(leg), ErrorCode::DeadlineExceeded);
        expect_error(now()->with(stopped)->search_leg(leg), ErrorCode::Cancelled);
        const std::vector<Leg> legs{leg, leg};
        for (const auto& result : now()->with(late)->search(legs)) {
            expect_error(result, ErrorCode::DeadlineExceeded);
        }
        EXPECT_EQ(ids_of(must(now()->with(patient)->search_leg(leg))), Ids{"a"});
    }
}

}  // namespace
}  // namespace braid::testing
