#include "braid/eval/compare.hpp"

#include <random>

#include <gtest/gtest.h>

#include "braid/eval/table.hpp"

namespace braid::eval {
namespace {

struct Sample {
    Qrels qrels;
    std::vector<eval::Run> runs;
};

/// 40 queries with one relevant document each: `base` ranks it anywhere in the first eight, `good`
/// first, `same` as `base` does.
Sample sample() {
    Sample made{{}, {{"base", {}}, {"good", {}}, {"same", {}}}};
    std::mt19937 rng(11);
    for (int q = 0; q < 40; ++q) {
        const std::string id = "q" + std::to_string(q);
        made.qrels.queries.push_back({id, {{"r", 1}}});
        const std::size_t place = rng() % 8;
        for (eval::Run& run : made.runs) {
            RankedList list{id, {}};
            for (std::size_t i = 0; i < 8; ++i) {
                const bool here = i == (run.name == "good" ? 0 : place);
                list.hits.push_back(
                    {here ? "r" : "x" + std::to_string(i), 10.0 - static_cast<double>(i)});
            }
            run.lists.push_back(std::move(list));
        }
    }
    return made;
}

Comparison comparison_of(const Sample& made, std::string_view measures) {
    const Result<Comparison> comparison =
        compare(made.qrels, made.runs, *parse_measures(measures), {.resamples = 2000});
    EXPECT_TRUE(comparison.has_value());
    return *comparison;
}

TEST(Compare, FindsTrueDifferencesAndNoOthers) {
    const Comparison comparison = comparison_of(sample(), "RR@10,nDCG@10");

    ASSERT_EQ(comparison.runs.size(), 3U);
    EXPECT_TRUE(comparison.runs[0].differences.empty());
    const Difference& good = comparison.runs[1].differences[0];
    EXPECT_NEAR(good.mean, 1.0 - comparison.runs[0].evaluation.means[0], 1e-12);
    EXPECT_GT(good.interval.low, 0.0);
    EXPECT_LT(good.interval.low, good.mean);
    EXPECT_GT(good.interval.high, good.mean);
    EXPECT_EQ(mark_of(good), "***" + std::string());
    EXPECT_EQ(good.worse, 0U);
    EXPECT_EQ(good.better + good.equal, 40U);
    const Difference& same = comparison.runs[2].differences[0];
    EXPECT_EQ(same.mean, 0.0);
    EXPECT_EQ(same.interval, Interval{});
    EXPECT_EQ(same.p_adjusted, 1.0);
    EXPECT_EQ(mark_of(same), "");
    EXPECT_EQ(same.equal, 40U);
}

TEST(Compare, GivesIntervalsAroundTheMeans) {
    const Comparison comparison = comparison_of(sample(), "RR@10");
    const ComparedRun& base = comparison.runs[0];
    EXPECT_LT(base.intervals[0].low, base.evaluation.means[0]);
    EXPECT_GT(base.intervals[0].high, base.evaluation.means[0]);
    EXPECT_EQ(comparison.runs[1].intervals[0], (Interval{1.0, 1.0}));
    EXPECT_EQ(comparison.runs[2].intervals[0], base.intervals[0]);
}

TEST(Compare, RefusesWhatCannotBeCompared) {
    const Sample made = sample();
    const std::vector<Measure> measures = default_measures();
    const auto fails = [&](const Qrels& qrels, std::span<const eval::Run> runs,
                           std::span<const Measure> wanted, const CompareOptions& options) {
        const Result<Comparison> result = compare(qrels, runs, wanted, options);
        return !result && result.error().code == ErrorCode::InvalidArgument;
    };
    EXPECT_TRUE(fails({}, made.runs, measures, {}));
    EXPECT_TRUE(fails(made.qrels, {}, measures, {}));
    EXPECT_TRUE(fails(made.qrels, made.runs, {}, {}));
    EXPECT_TRUE(fails(made.qrels, made.runs, measures, {.resamples = 99}));
    EXPECT_TRUE(fails(made.qrels, made.runs, measures, {.resamples = 2'000'000}));
    EXPECT_TRUE(fails(made.qrels, made.runs, measures, {.confidence = 1.0}));
    EXPECT_TRUE(fails(made.qrels, made.runs, measures, {.confidence = std::nan("")}));
    const std::vector<eval::Run> twins{made.runs[0], made.runs[0]};
    EXPECT_TRUE(fails(made.qrels, twins, measures, {}));
}

TEST(ToValue, HasTheFormThatProgramsRead) {
    const Comparison comparison = comparison_of(sample(), "RR@10,P(rel=2)@5");

    const Value value = to_value(comparison);

    EXPECT_EQ(*value.find("queries"), Value(40));
    EXPECT_EQ(*value.find("baseline"), Value("base"));
    EXPECT_EQ(value.find("per_query"), nullptr);
    const Array& runs = value.find("runs")->as_array();
    ASSERT_EQ(runs.size(), 3U);
    EXPECT_EQ(runs[0].find("compared"), nullptr);
    EXPECT_EQ(*runs[1].find("name"), Value("good"));
    EXPECT_EQ(*runs[1].find("measures"), Value(Object{{"RR@10", 1.0}, {"P(rel=2)@5", 0.0}}));
    EXPECT_EQ(*runs[1].find("intervals")->find("RR@10"), Value(Array{1.0, 1.0}));
    EXPECT_EQ(*runs[1].find("compared")->find("RR@10")->find("mark"), Value("***"));
    EXPECT_EQ(*runs[2].find("compared")->find("RR@10")->find("equal"), Value(40));

    const Value whole = to_value(comparison, true);
    const Array& queries = whole.find("per_query")->as_array();
    ASSERT_EQ(queries.size(), 40U);
    EXPECT_EQ(*queries[7].find("query"), Value("q7"));
    EXPECT_EQ(queries[7].find("values")->find("RR@10")->as_array()[1], Value(1.0));
}

TEST(ToTable, AlignsMeansIntervalsAndDifferences) {
    const Sample made = sample();
    const Result<Comparison> comparison =
        compare(made.qrels, std::span(made.runs).first(2), *parse_measures("Success@8,P@1"),
                {.resamples = 1000});
    ASSERT_TRUE(comparison.has_value());

    EXPECT_EQ(
        to_table(*comparison),
        "run             Success@8    P@1\n"
        "base            1.0000       0.1750\n"
        "                1.000–1.000  0.075–0.300\n"
        "good            1.0000       1.0000 ▲***\n"
        "                1.000–1.000  1.000–1.000\n"
        "  against base  0.0000       +0.8250\n"
        "\n"
        "means over 40 judged queries, below them 95 % bootstrap intervals (1,000 resamples, "
        "seed 1)\n"
        "▲ better, ▼ worse than base by a paired randomisation test: * p < 0.05, ** p < 0.01, "
        "*** p < 0.001\n");
}

TEST(ToTable, UsesColoursOnlyIfAsked) {
    const Comparison comparison = comparison_of(sample(), "RR@10");
    EXPECT_EQ(to_table(comparison).find('\x1b'), std::string::npos);
    EXPECT_NE(to_table(comparison, {.color = true}).find("\x1b[32m1.0000 ▲***\x1b[0m"),
              std::string::npos);
    EXPECT_EQ(to_query_table(comparison).find('\x1b'), std::string::npos);
}

TEST(ToTable, SaysWhichRunLacksQueries) {
    Sample made = sample();
    made.runs[1].lists.resize(37);
    const std::string table = to_table(comparison_of(made, "RR@10"));
    EXPECT_NE(table.find("good lacks 3 judged queries, counted as 0\n"), std::string::npos);
    EXPECT_EQ(table.find("base lacks"), std::string::npos);
}

TEST(ToQueryTable, HasALinePerQueryAndRun) {
    const Sample made{{{{"q1", {{"a", 1}}}, {"long-id", {{"b", 1}}}}},
                      {{"base", {{"q1", {{"a", 2.0}, {"b", 1.0}}}}}, {"other", {}}}};
    EXPECT_EQ(to_query_table(comparison_of(made, "RR@10,P@2")),
              "query    run    RR@10   P@2\n"
              "q1       base   1.0000  0.5000\n"
              "q1       other  0.0000  0.0000\n"
              "long-id  base   0.0000  0.0000\n"
              "long-id  other  0.0000  0.0000\n");
}

}  // namespace
}  // namespace braid::eval
