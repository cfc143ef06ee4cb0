#include "braid/eval/measures.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace braid::eval {
namespace {

std::string parsed(std::string_view name) {
    const Result<Measure> measure = parse_measure(name);
    return measure ? name_of(*measure) : measure.error().message;
}

double value(std::string_view measure, const Qrels& qrels, const eval::Run& run) {
    const Result<Measure> parsed_measure = parse_measure(measure);
    EXPECT_TRUE(parsed_measure.has_value()) << measure;
    const std::vector<Measure> measures{*parsed_measure};
    return evaluate(qrels, run, measures).means[0];
}

/// One query, hits d1, d2, … in this order.
eval::Run ranked(std::size_t hits) {
    eval::Run run{"r", {{"q", {}}}};
    for (std::size_t i = 1; i <= hits; ++i) {
        run.lists[0].hits.push_back({"d" + std::to_string(i), 100.0 - static_cast<double>(i)});
    }
    return run;
}

const Qrels kGraded{{{"q", {{"d1", 2}, {"d3", 1}, {"d4", 0}, {"d5", -1}, {"x", 3}}}}};

TEST(ParseMeasure, ReadsTheNamesThatIrMeasuresPrints) {
    for (const std::string name :
         {"nDCG", "nDCG@10", "AP", "AP@100", "AP(rel=2)", "AP(rel=2)@100", "RR", "RR@10",
          "RR(rel=3)", "P@5", "P(rel=2)@10", "R@100", "R(rel=2)@100", "Success@5",
          "Success(rel=2)@5", "Judged", "Judged@10"}) {
        EXPECT_EQ(parsed(name), name);
    }
    EXPECT_EQ(parsed(" MAP(rel=1) "), "AP");
    EXPECT_EQ(parsed("MRR@10"), "RR@10");
    EXPECT_EQ(parsed("NDCG @ 20"), "nDCG@20");
    EXPECT_EQ(parsed("Precision( rel = 2 )@5"), "P(rel=2)@5");
    EXPECT_EQ(parsed("Recall@7"), "R@7");
}

TEST(ParseMeasure, ExplainsWhatIsWrong) {
    EXPECT_EQ(parsed("ndcg@10"),
              "measure \"ndcg@10\": there is no \"ndcg\"; did you mean nDCG? "
              "(known: nDCG, AP, RR, P, R, Success, Judged)");
    EXPECT_EQ(parsed("Sucess@5"),
              "measure \"Sucess@5\": there is no \"Sucess\"; did you mean Success? "
              "(known: nDCG, AP, RR, P, R, Success, Judged)");
    EXPECT_EQ(parsed("bpref"),
              "measure \"bpref\": there is no \"bpref\" "
              "(known: nDCG, AP, RR, P, R, Success, Judged)");
    EXPECT_EQ(parsed("P"), "measure \"P\": needs a cutoff, as in P@10");
    EXPECT_EQ(parsed("nDCG(rel=2)@10"),
              "measure \"nDCG(rel=2)@10\": nDCG takes no parameter in parentheses");
    EXPECT_EQ(parsed("P(judged_only=True)@5"),
              "measure \"P(judged_only=True)@5\": expected rel=n, n from 1, in parentheses, found "
              "\"judged_only=True\"");
    for (const std::string cutoff : {"", "0", "-1", "2.5", "ten", "99999999999"}) {
        EXPECT_EQ(parsed("P@" + cutoff), "measure \"P@" + cutoff +
                                             "\": the cutoff after @ must be a whole number from "
                                             "1");
    }
    for (const std::string bad :
         {"", "@", "()", "P(rel=0)@5", "P(rel=2@5", "P)rel=2(@5", "P(@5)"}) {
        EXPECT_FALSE(parse_measure(bad).has_value()) << bad;
    }
}

TEST(ParseMeasures, KeepsTheOrderAndDropsRepetitions) {
    EXPECT_EQ(*parse_measures("R@5, nDCG@10,Recall@5"),
              (std::vector<Measure>{{MeasureKind::Recall, 5}, {MeasureKind::NDcg, 10}}));
    EXPECT_FALSE(parse_measures("").has_value());
    EXPECT_FALSE(parse_measures("AP,,RR").has_value());
}

TEST(Evaluate, GivesHandComputedValues) {
    const eval::Run run = ranked(6);
    const double ideal = 3.0 + 2.0 / std::log2(3.0) + 1.0 / 2.0;
    EXPECT_DOUBLE_EQ(value("nDCG", kGraded, run), (2.0 + 1.0 / 2.0) / ideal);
    EXPECT_DOUBLE_EQ(value("nDCG@2", kGraded, run), 2.0 / (3.0 + 2.0 / std::log2(3.0)));
    EXPECT_DOUBLE_EQ(value("AP", kGraded, run), (1.0 + 2.0 / 3.0) / 3.0);
    EXPECT_DOUBLE_EQ(value("AP@2", kGraded, run), 1.0 / 3.0);
    EXPECT_DOUBLE_EQ(value("AP(rel=2)", kGraded, run), 1.0 / 2.0);
    EXPECT_DOUBLE_EQ(value("RR", kGraded, run), 1.0);
    EXPECT_DOUBLE_EQ(value("RR(rel=3)@10", kGraded, run), 0.0);
    EXPECT_DOUBLE_EQ(value("P@4", kGraded, run), 0.5);
    EXPECT_DOUBLE_EQ(value("P(rel=2)@4", kGraded, run), 0.25);
    EXPECT_DOUBLE_EQ(value("R@1", kGraded, run), 1.0 / 3.0);
    EXPECT_DOUBLE_EQ(value("R@10", kGraded, run), 2.0 / 3.0);
    EXPECT_DOUBLE_EQ(value("Success(rel=2)@5", kGraded, run), 1.0);
    EXPECT_DOUBLE_EQ(value("Success(rel=3)@5", kGraded, run), 0.0);
    EXPECT_DOUBLE_EQ(value("Judged@5", kGraded, run), 0.8);
}

TEST(Evaluate, PrecisionCountsMissingHitsAndJudgedDoesNot) {
    EXPECT_DOUBLE_EQ(value("P@10", kGraded, ranked(1)), 0.1);
    EXPECT_DOUBLE_EQ(value("Judged@10", kGraded, ranked(2)), 0.5);
    EXPECT_DOUBLE_EQ(value("Judged", kGraded, ranked(4)), 0.75);
}

TEST(Evaluate, BreaksTiesAsEachOfIrMeasuresProvidersDoes) {
    const Qrels qrels{{{"q", {{"a", 1}}}}};
    const eval::Run tied{"r", {{"q", {{"a", 1.0}, {"b", 1.0}}}}};
    EXPECT_EQ(value("P@1", qrels, tied), 0.0) << "trec_eval: larger id first";
    EXPECT_EQ(value("RR", qrels, tied), 0.5);
    EXPECT_EQ(value("RR@10", qrels, tied), 1.0) << "msmarco: smaller id first";
    EXPECT_EQ(value("Judged@1", qrels, tied), 1.0);

    const eval::Run close{"r", {{"q", {{"a", std::nextafter(1.0, 2.0)}, {"b", 1.0}}}}};
    EXPECT_EQ(value("P@1", qrels, close), 0.0) << "trec_eval: the same float";
    const eval::Run apart{"r", {{"q", {{"a", std::nextafter(1.0F, 2.0F)}, {"b", 1.0}}}}};
    EXPECT_EQ(value("P@1", qrels, apart), 1.0);
}

TEST(Evaluate, AveragesOverAllJudgedQueriesAndNoOthers) {
    const Qrels qrels{{{"q", {{"d1", 1}}}, {"missing", {{"d1", 1}}}, {"none", {{"d1", -1}}}}};
    eval::Run run = ranked(3);
    run.lists.push_back({"unjudged", {{"d1", 1.0}}});
    run.lists.push_back({"none", {{"d1", 1.0}}});
    const std::vector<Measure> measures = *parse_measures("nDCG@10,AP,R@5,RR,Judged@5");

    const Evaluation evaluation = evaluate(qrels, run, measures);

    EXPECT_EQ(evaluation.missing, 1U);
    EXPECT_EQ(evaluation.unjudged, 1U);
    for (std::size_t m = 0; m < 4; ++m) {
        EXPECT_EQ(evaluation.values[m], (std::vector<double>{1.0, 0.0, 0.0}));
        EXPECT_DOUBLE_EQ(evaluation.means[m], 1.0 / 3.0);
    }
    EXPECT_EQ(evaluation.values[4], (std::vector<double>{1.0 / 3.0, 0.0, 1.0}));
}

TEST(Evaluate, TakesARunWithoutHits) {
    const std::vector<Measure> measures = default_measures();
    const Evaluation evaluation = evaluate(kGraded, {}, measures);
    EXPECT_EQ(evaluation.means, std::vector<double>(measures.size(), 0.0));
    EXPECT_EQ(evaluation.missing, 1U);
    const eval::Run empty_list{"r", {{"q", {}}}};
    EXPECT_EQ(evaluate(kGraded, empty_list, measures).means,
              std::vector<double>(measures.size(), 0.0));
}

}  // namespace
}  // namespace braid::eval
