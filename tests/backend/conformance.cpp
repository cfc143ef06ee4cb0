#include "backend/conformance.hpp"

#include <algorithm>
#include <cmath>

namespace braid::testing {

std::string backend_name(const ::testing::TestParamInfo<BackendUnderTest>& info) {
    return info.param.name;
}

double score_tolerance(const Capabilities& capabilities, LegKind kind) {
    if (kind == LegKind::Dense) return capabilities.exact_dense ? 1e-12 : 1e-5;
    // Rounded lengths change a saturated frequency by up to a few per cent.
    return capabilities.exact_lengths ? 1e-12 : 0.1;
}

void BackendConformance::TearDown() {
    const auto report = backend().check();
    if (!report) {
        EXPECT_EQ(error_facts(report.error().code).name, "unsupported") << report.error().message;
        return;
    }
    for (const std::string& problem : report->problems) ADD_FAILURE() << problem;
}

void BackendConformance::expect_list(const Leg& leg, const Model::Scores& expected) const {
    const SnapshotPtr snapshot = now();
    Leg whole = leg;
    whole.depth = expected.size() + 10;
    const LegResult result = must(backend().search_leg(snapshot, whole, {}));
    EXPECT_EQ(result.matched, expected.size());
    ASSERT_EQ(result.hits.size(), expected.size());

    const double tolerance = score_tolerance(promised(), leg.kind);
    Ids ids;
    for (const LegHit& hit : result.hits) {
        const auto found = expected.find(hit.chunk_id);
        ASSERT_NE(found, expected.end()) << hit.chunk_id << " should not be in the list";
        EXPECT_NEAR(hit.score, found->second, tolerance * std::max(1.0, std::abs(found->second)))
            << hit.chunk_id;
        ids.push_back(hit.chunk_id);
    }
    EXPECT_TRUE(std::ranges::is_sorted(result.hits, [](const LegHit& a, const LegHit& b) {
        return a.score != b.score ? a.score > b.score : a.chunk_id < b.chunk_id;
    })) << "hits are not in the order of score and id";

    Leg short_list = leg;
    short_list.depth = expected.size() / 3;
    const LegResult first = must(backend().search_leg(snapshot, short_list, {}));
    EXPECT_EQ(first.matched, expected.size());
    EXPECT_EQ(first.hits, std::vector<LegHit>(
                              result.hits.begin(),
                              result.hits.begin() + static_cast<std::ptrdiff_t>(short_list.depth)));

    const auto scores = must(backend().score(snapshot, leg, ids));
    const auto ranks = must(backend().rank_of(snapshot, leg, ids));
    ASSERT_EQ(scores.size(), ids.size());
    ASSERT_EQ(ranks.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_EQ(scores[i], result.hits[i].score) << ids[i];
        EXPECT_EQ(ranks[i], i + 1) << ids[i];
    }
}

}  // namespace braid::testing
