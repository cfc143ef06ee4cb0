#include <random>

#include "backend/conformance.hpp"
#include "braid/rank/model_json.hpp"
#include "rank/random_model.hpp"

// What is kept with a collection beside its chunks.
namespace braid::testing {
namespace {

std::string some_model(unsigned seed) {
    std::mt19937_64 rng(seed);
    return rank::write_model(rank::random_model(rng, 5));
}

LegProbes some_probes(std::uint64_t chunks) {
    return {.chunks = chunks,
            .among = 20,
            .kinds = {{"title", 7, 0.5, 0.25}},
            .random_dense = {0.1, 0.2},
            .random_sparse = {1.5, 0.5}};
}

TEST_P(BackendConformance, ALearnedRankingIsKeptUntilItIsReplacedOrRemoved) {
    create(words_schema(), "other");
    create(words_schema());
    put({make_chunk("a", "fox")});
    const auto kept = [&] {
        const auto model = must(now()->ranker(collection()));
        return model ? rank::write_model(*model) : "";
    };
    EXPECT_EQ(kept(), "");
    must(backend().set_ranker(collection(), ""));  // none is no error
    for (const unsigned seed : {1U, 2U}) {
        must(backend().set_ranker(collection(), some_model(seed)));
        EXPECT_EQ(kept(), some_model(seed));
        EXPECT_EQ(kept(), some_model(seed)) << "read again";
    }
    expect_error(backend().set_ranker(collection(), "{}"), ErrorCode::InvalidArgument);
    expect_error(backend().set_ranker("nowhere", some_model(1)), ErrorCode::NotFound);
    EXPECT_EQ(kept(), some_model(2));
    // It is no chunk.
    EXPECT_EQ(must(now()->count(scope())), 1U);
    EXPECT_EQ(must(backend().describe(collection(), {})).chunks, 1U);
    EXPECT_EQ(must(backend().describe(collection(), {})).namespaces, Ids{"default"});
    EXPECT_EQ(ids_of(must(now()->scan(scope(), "", 10, false))), Ids{"a"});
    must(backend().set_ranker(collection(), ""));
    EXPECT_EQ(kept(), "");
    must(backend().set_ranker(collection(), some_model(1)));
    must(backend().drop_collection(collection()));
    create(words_schema());
    EXPECT_EQ(kept(), "") << "it goes with its collection";
}

TEST_P(BackendConformance, ProbesAreKeptByNamespace) {
    create(words_schema());
    put({make_chunk("a", "fox")});
    put({make_chunk("a", "fox")}, "other");
    const auto kept = [&](const std::string& namespace_, const Principal& principal = {}) {
        ReadScope at = scope(principal);
        at.namespace_ = namespace_;
        return must(now()->stats(at)).probes;
    };
    EXPECT_EQ(kept("default"), std::nullopt);
    for (const std::uint64_t chunks : {30U, 40U}) {
        must(backend().set_probes(collection(), "default", some_probes(chunks)));
        EXPECT_EQ(kept("default"), some_probes(chunks));
    }
    must(backend().set_probes(collection(), "other", some_probes(50)));
    EXPECT_EQ(kept("default"), some_probes(40));
    EXPECT_EQ(kept("other"), some_probes(50));
    EXPECT_EQ(kept("default", reader("normal")), std::nullopt)
        << "they tell of chunks it may not see";
    expect_error(backend().set_probes("nowhere", "default", some_probes(1)), ErrorCode::NotFound);
    EXPECT_EQ(must(now()->count(scope())), 1U);
}

}  // namespace
}  // namespace braid::testing
