#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "backend/local_backends.hpp"
#include "backend/random_data.hpp"
#include "cluster/cluster_under_test.hpp"

// The query language over a cluster finds what the embedded engine finds.
namespace braid::testing {
namespace {

Ids sorted_ids(const LegResult& result) {
    Ids ids = ids_of(result);
    std::ranges::sort(ids);
    return ids;
}

/// Whether both score alike: no phrase, no field, no pattern whose words count differently.
bool is_plain(const QueryClause& clause) {
    const bool one_word = clause.text.find(' ') == std::string::npos;
    return clause.field.empty() && clause.kind != QueryClause::Kind::Fuzzy &&
           (clause.kind != QueryClause::Kind::Phrase || one_word) &&
           std::ranges::all_of(clause.clauses, is_plain);
}

TEST(ClusterQuery, FindsWhatTheEmbeddedEngineFinds) {
    const auto cluster = make_cluster_backend({.shards = 3});
    const BackendUnderTest here_alone = local_backends().front();  // with the folder it is in
    const auto embedded = here_alone.make();
    RandomData random(11);
    Schema schema = words_schema();
    schema.text_fields = {{"title", 2.0}, {"content", 1.0}};
    std::vector<Chunk> chunks;
    for (int i = 0; i < 400; ++i) {
        Chunk chunk = make_chunk("c" + std::to_string(i), random.words(1 + random.below(25)));
        if (random.chance(30)) chunk.title = random.words(1 + random.below(3));
        if (random.chance(20)) chunk.sensitivity = "sensitive";
        chunk.metadata.set("n", random.below(4));
        chunks.push_back(std::move(chunk));
    }
    for (Backend* const backend : {cluster.get(), embedded.get()}) {
        must(backend->create_collection("c", schema));
        must(backend->upsert("c", "default", chunks, {}));
    }
    const std::vector<std::string> names{"c"};
    const ReaderPtr found = must(cluster->snapshot(names, {}));
    const ReaderPtr expected = must(embedded->snapshot(names, {}));
    int plain = 0;
    for (int i = 0; i < 300; ++i) {
        Leg leg{.kind = LegKind::Sparse, .scope = scope_of("c"), .depth = 1'000};
        leg.clause = std::make_shared<const QueryClause>(random.clauses({"title", "content"}));
        if (random.chance(20)) leg.scope.filter = Filter::compare(Filter::Op::Eq, "n", 1);
        const bool guest = random.chance(20);
        if (guest) leg.scope.principal = reader("normal");
        SCOPED_TRACE(::testing::Message() << "query " << i);
        const LegResult all = must(expected->search_leg(leg));
        const LegResult here = must(found->search_leg(leg));
        ASSERT_EQ(sorted_ids(here), sorted_ids(all));
        ASSERT_EQ(here.patterns.size(), all.patterns.size());
        for (std::size_t p = 0; p < all.patterns.size(); ++p) {
            EXPECT_EQ(here.patterns[p].words, all.patterns[p].words) << all.patterns[p].pattern;
            EXPECT_EQ(here.patterns[p].matching, all.patterns[p].matching);
        }
        EXPECT_EQ(here.matched.count, here.hits.size());
        // Others weigh words by what they see.
        if (guest || !is_plain(*leg.clause)) continue;
        ++plain;
        const auto scores = must(expected->score(leg, ids_of(here)));
        for (std::size_t h = 0; h < here.hits.size(); ++h) {
            const double score = present(scores[h]);
            EXPECT_NEAR(here.hits[h].score, score, 1e-5 * std::max(1.0, score));
        }
    }
    EXPECT_GT(plain, 30);
}

}  // namespace
}  // namespace braid::testing
