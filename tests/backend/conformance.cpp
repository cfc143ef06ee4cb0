#include "backend/conformance.hpp"

#include <algorithm>
#include <cmath>

namespace braid::testing {

std::string backend_name(const ::testing::TestParamInfo<BackendUnderTest>& info) {
    return info.param.name;
}

double score_tolerance(const Capabilities& capabilities, LegKind kind) {
    if (kind == LegKind::Dense) return capabilities.exact_dense ? 1e-12 : 1e-5;
    return capabilities.exact_lengths ? 1e-12 : 2e-6;
}

void BackendConformance::TearDown() {
    const auto report = backend().check({});
    if (!report) {
        EXPECT_EQ(error_facts(report.error().code).name, "unsupported") << report.error().message;
        return;
    }
    for (const std::string& problem : report->problems) ADD_FAILURE() << problem;
}

void BackendConformance::expect_matched(const LegResult& result, std::size_t count) {
    if (result.matched.relation == MatchCount::Relation::Exact) {
        EXPECT_EQ(result.matched.count, count);
    } else {
        EXPECT_LE(result.matched.count, count);
        EXPECT_GE(result.matched.count, result.hits.size());
    }
}

void BackendConformance::expect_list(const Leg& leg, const Model& model) const {
    Model::Ranges expected;
    if (leg.kind == LegKind::Sparse) {
        expected = model.sparse_ranges(leg);
        // Only hits with a score above zero are in a list.
        std::erase_if(expected, [](const auto& entry) { return entry.second.high <= 0; });
    } else {
        for (const auto& [id, score] : model.dense(leg)) expected[id] = {score, score};
    }
    const ReaderPtr snapshot = now();
    Leg whole = leg;
    whole.depth = expected.size() + 10;
    const LegResult result = must(snapshot->search_leg(whole));
    expect_matched(result, expected.size());
    EXPECT_TRUE(result.exhausted);
    if (leg.kind == LegKind::Sparse || promised().exact_dense) {
        ASSERT_EQ(result.hits.size(), expected.size());
    } else {  // an approximate search may miss one in ten
        ASSERT_GE(result.hits.size() * 10, expected.size() * 9);
    }

    const double tolerance = score_tolerance(promised(), leg.kind);
    Ids ids;
    for (const LegHit& hit : result.hits) {
        const auto found = expected.find(hit.chunk_id);
        ASSERT_NE(found, expected.end()) << hit.chunk_id << " should not be in the list";
        const auto [low, high] = found->second;
        EXPECT_GE(hit.score, low - tolerance * std::max(1.0, std::abs(low))) << hit.chunk_id;
        EXPECT_LE(hit.score, high + tolerance * std::max(1.0, std::abs(high))) << hit.chunk_id;
        ids.push_back(hit.chunk_id);
    }
    EXPECT_TRUE(std::ranges::is_sorted(result.hits, [](const LegHit& a, const LegHit& b) {
        return a.score != b.score ? a.score > b.score : a.chunk_id < b.chunk_id;
    })) << "hits are not in the order of score and id";

    Leg short_list = leg;
    short_list.depth = expected.size() / 3;
    const LegResult first = must(snapshot->search_leg(short_list));
    expect_matched(first, expected.size());
    EXPECT_EQ(first.exhausted, short_list.depth >= result.hits.size());
    const auto middle = result.hits.begin() + static_cast<std::ptrdiff_t>(short_list.depth);
    EXPECT_EQ(first.hits, std::vector<LegHit>(result.hits.begin(), middle));

    if (!first.hits.empty()) {  // and on from there
        short_list.after = first.hits.back();
        short_list.depth = expected.size();
        const LegResult rest = must(snapshot->search_leg(short_list));
        EXPECT_EQ(rest.hits, std::vector<LegHit>(middle, result.hits.end()));
        EXPECT_TRUE(rest.exhausted);
        expect_matched(rest, expected.size());
    }
    // Band by band, each going on where the last one ended, it is the same list.
    for (const std::size_t band : {std::size_t{1}, std::size_t{3}}) {
        Leg step = leg;
        step.depth = band;
        std::vector<LegHit> joined;
        while (true) {
            const LegResult part = must(snapshot->search_leg(step));
            joined.insert(joined.end(), part.hits.begin(), part.hits.end());
            if (part.exhausted || part.hits.empty()) break;
            ASSERT_LT(joined.size(), expected.size() + 10) << "it never ends";
            step.after = part.hits.back();
        }
        EXPECT_EQ(joined, result.hits) << "bands of " << band;
    }

    const auto scores = must(snapshot->score(leg, ids));
    ASSERT_EQ(scores.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_EQ(scores[i], result.hits[i].score) << ids[i];
    }
    if (!promised().whole_ranking) return;
    const auto ranks = must(snapshot->rank_of(leg, ids));
    ASSERT_EQ(ranks.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ranks[i], i + 1) << ids[i];
}

}  // namespace braid::testing
