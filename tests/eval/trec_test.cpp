#include "braid/eval/trec.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace braid::eval {
namespace {

std::string error_of(const auto& result) {
    if (result) return "no error";
    EXPECT_EQ(result.error().code, ErrorCode::InvalidArgument);
    return result.error().message;
}

eval::Run run_of(const std::vector<double>& scores) {
    eval::Run run{"tag", {{"q1", {}}}};
    for (const double score : scores) {
        run.lists[0].hits.push_back({"d" + std::to_string(run.lists[0].hits.size()), score});
    }
    return run;
}

std::vector<double> written_scores(const std::vector<double>& scores, ScoreGap gap) {
    const Result<std::string> text = write_run(run_of(scores), gap);
    EXPECT_TRUE(text.has_value());
    const Result<eval::Run> back = parse_run(*text, "back");
    EXPECT_TRUE(back.has_value());
    std::vector<double> read;
    for (std::size_t i = 0; i < back->lists[0].hits.size(); ++i) {
        EXPECT_EQ(back->lists[0].hits[i].document, "d" + std::to_string(i)) << "order is kept";
        read.push_back(back->lists[0].hits[i].score);
    }
    return read;
}

TEST(ParseRun, OrdersByScoreThenSmallerIdWhateverTheRanksSay) {
    const Result<eval::Run> run = parse_run(
        "q2 Q0 d1 1 0.5 first\n"
        "q1 Q0 b 1 2 second\n"
        "q2\tQ0\td3\t2\t7e-1\tfirst\n"
        "  q1 Q0   a 9 2.0 second  \r\n"
        "\n"
        "q1 Q0 c 3 +3.5 second",
        "runs/x.trec");

    ASSERT_TRUE(run.has_value()) << run.error().message;
    const eval::Run expected{
        "first",
        {{"q2", {{"d3", 0.7}, {"d1", 0.5}}}, {"q1", {{"c", 3.5}, {"a", 2.0}, {"b", 2.0}}}}};
    EXPECT_EQ(*run, expected);
}

TEST(ParseRun, TakesAnEmptyFileAndAByteOrderMark) {
    EXPECT_TRUE(parse_run("", "x")->lists.empty());
    EXPECT_TRUE(parse_run(" \r\n\t\n", "x")->lists.empty());
    EXPECT_EQ(parse_run("\xEF\xBB\xBFq Q0 d 1 1 t", "x")->lists[0].query, "q");
}

TEST(ParseRun, NamesFileAndLineOfWhatIsWrong) {
    EXPECT_EQ(error_of(parse_run("q Q0 d 1 0.5 t\nq Q0 e 2 0.4\n", "r.trec")),
              "r.trec:2: expected 6 fields, \"query Q0 document rank score tag\", found 5");
    EXPECT_EQ(error_of(parse_run("\nq Q0 d first 0.5 t", "r")),
              "r:2: the rank \"first\" is not an integer");
    for (const std::string score : {"nan", "inf", "-inf", "1e999", "0x10", "1,5", "1.0f", "+-1"}) {
        EXPECT_EQ(error_of(parse_run("q Q0 d 1 " + score + " t", "r")),
                  "r:1: the score \"" + score + "\" is not a finite number");
    }
    EXPECT_EQ(error_of(parse_run("q Q0 d\xFF 1 1 t", "r")), "r:1: the line is not UTF-8");
    EXPECT_EQ(error_of(parse_run(std::string_view("q Q0 d\0 1 1 t", 13), "r")),
              "r:1: the line holds a NUL byte");
}

TEST(ParseRun, NamesBothLinesOfADuplicateTheEarliestFirst) {
    EXPECT_EQ(error_of(parse_run("q1 Q0 z 1 9 t\nq2 Q0 a 1 9 t\nq2 Q0 b 2 8 t\nq1 Q0 y 2 8 t\n"
                                 "q2 Q0 a 3 7 t\nq1 Q0 y 3 7 t\n",
                                 "r")),
              "r:5: document \"a\" of query \"q2\" is already on line 2");
}

TEST(ParseQrels, ReadsTrecLines) {
    const Result<Qrels> qrels = parse_qrels("1 0 d2 1\r\n1 0 d1 -1\r\n\r\n2\t0\td1\t3\r\n", "q");

    ASSERT_TRUE(qrels.has_value()) << qrels.error().message;
    EXPECT_EQ(*qrels, (Qrels{{{"1", {{"d1", -1}, {"d2", 1}}}, {"2", {{"d1", 3}}}}}));
}

TEST(ParseQrels, ReadsBeirLinesAfterTheirHeader) {
    const Result<Qrels> qrels = parse_qrels("query-id\tcorpus-id\tscore\n1\td 2\t1\n1 d1 0\n", "q");

    ASSERT_TRUE(qrels.has_value()) << qrels.error().message;
    EXPECT_EQ(*qrels, (Qrels{{{"1", {{"d 2", 1}, {"d1", 0}}}}}));
}

TEST(ParseQrels, RefusesOtherForms) {
    EXPECT_EQ(error_of(parse_qrels("", "q")), "q: there is no judgement");
    EXPECT_EQ(error_of(parse_qrels("query-id\tcorpus-id\tscore\n", "q")),
              "q: there is no judgement");
    EXPECT_EQ(error_of(parse_qrels("1\td1\t1\n", "q")),
              "q:1: expected 4 fields, \"query iteration document relevance\", found 3");
    EXPECT_EQ(error_of(parse_qrels("query-id corpus-id score\n1 0 d1 1\n", "q")),
              "q:2: expected 3 fields, \"query-id corpus-id score\", found 4");
    EXPECT_EQ(error_of(parse_qrels("query-id corpus-id score\n1\t\t1\n", "q")),
              "q:2: an id is empty");
    for (const std::string relevance : {"1.0", "one", "9999999999", "-2147483648", "1000001"}) {
        EXPECT_EQ(
            error_of(parse_qrels("1 0 d1 " + relevance, "q")),
            "q:1: the relevance \"" + relevance + "\" is not an integer from -1000000 to 1000000");
    }
    EXPECT_EQ(error_of(parse_qrels("1 0 d1 1\n2 0 d1 1\n1 0 d1 0\n", "q")),
              "q:3: document \"d1\" of query \"1\" is already on line 1");
}

TEST(ReadFiles, SayWhichFileIsMissing) {
    const Result<eval::Run> run = read_run("no/such/file.trec");
    ASSERT_FALSE(run.has_value());
    EXPECT_EQ(run.error().code, ErrorCode::NotFound);
    EXPECT_NE(run.error().message.find("no/such/file.trec"), std::string::npos);
    EXPECT_FALSE(read_qrels("/").has_value());
}

TEST(WriteRun, WritesRanksFromOneAndFullPrecision) {
    const eval::Run run{"", {{"q1", {{"a", 0.1 + 0.2}, {"b", 0.1}}}, {"q2", {{"a", -3.0}}}}};
    EXPECT_EQ(*write_run(run, ScoreGap::None),
              "q1 Q0 a 1 0.30000000000000004 braid\n"
              "q1 Q0 b 2 0.1 braid\n"
              "q2 Q0 a 1 -3 braid\n");
}

TEST(WriteRun, KeepsScoresThatAreFarEnoughApart) {
    const std::vector<double> scores{0.7, 0.6, 1e-30, 0.0, -0.1, -5e8};
    EXPECT_EQ(written_scores(scores, ScoreGap::Single), scores);
    EXPECT_EQ(written_scores(scores, ScoreGap::Double), scores);
}

TEST(WriteRun, MovesEqualScoresToTheNextDoubleBelow) {
    const double below = std::nextafter(0.5, 0.0);
    EXPECT_EQ(written_scores({0.5, 0.5, below, 0.25}, ScoreGap::Double),
              (std::vector<double>{0.5, below, std::nextafter(below, 0.0), 0.25}));
    EXPECT_EQ(written_scores({0.0, 0.0}, ScoreGap::Double),
              (std::vector<double>{0.0, -std::numeric_limits<double>::denorm_min()}));
}

TEST(WriteRun, KeepsScoresApartInSinglePrecisionAsTrecEvalReadsThem) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::vector<double> scores;
        for (int i = 0; i < 200; ++i) {
            const double coarse = static_cast<double>(rng() % 20) - 10.0;
            scores.push_back(coarse + static_cast<double>(rng() % 4) * 1e-9);
        }
        std::sort(scores.begin(), scores.end(), std::greater<>());
        const std::vector<double> written = written_scores(scores, ScoreGap::Single);
        for (std::size_t i = 0; i < scores.size(); ++i) {
            EXPECT_NEAR(written[i], scores[i], 1e-3);
            if (i == 0) continue;
            EXPECT_LT(static_cast<float>(written[i]), static_cast<float>(written[i - 1]));
        }
    }
}

TEST(WriteRun, RefusesWhatARunCannotExpress) {
    EXPECT_FALSE(write_run({"t", {{"q", {{"a b", 1.0}}}}}).has_value());
    EXPECT_FALSE(write_run({"t", {{"q", {{"", 1.0}}}}}).has_value());
    EXPECT_FALSE(write_run({"t", {{"q\n", {{"a", 1.0}}}}}).has_value());
    EXPECT_FALSE(write_run({"my run", {}}).has_value());
    EXPECT_FALSE(write_run(run_of({1.0, 2.0})).has_value());
    EXPECT_FALSE(write_run(run_of({std::nan("")}), ScoreGap::None).has_value());
    EXPECT_FALSE(write_run(run_of({HUGE_VAL}), ScoreGap::None).has_value());
    EXPECT_FALSE(write_run(run_of({1e300}), ScoreGap::Single).has_value());
    EXPECT_FALSE(write_run(run_of({-FLT_MAX, -FLT_MAX}), ScoreGap::Single).has_value());
    EXPECT_FALSE(write_run(run_of({-DBL_MAX, -DBL_MAX}), ScoreGap::Double).has_value());
    EXPECT_TRUE(write_run(run_of({1e300}), ScoreGap::Double).has_value());
}

/// Mutations of a good file and random bytes: either a value that can be written back, or an error
/// that names the file.
TEST(Parsers, SurviveDamagedFiles) {
    const std::string good =
        "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.25 t\r\nq2\tQ0\td\xC3\xA9\t1\t-1e3\tt\n";
    for (unsigned seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        std::mt19937 rng(seed);
        std::string text = good;
        for (auto i = rng() % 6; i > 0 && !text.empty(); --i) {
            const std::size_t place = rng() % text.size();
            switch (rng() % 4) {
                case 0:
                    text[place] = static_cast<char>(rng());
                    break;
                case 1:
                    text.resize(place);
                    break;
                case 2:
                    text.erase(place, 1);
                    break;
                default:
                    text.insert(place, 1, " \t\n\r0d"[rng() % 6]);
                    break;
            }
        }
        const Result<eval::Run> run = parse_run(text, "file");
        if (!run) {
            EXPECT_TRUE(run.error().message.starts_with("file:")) << run.error().message;
        } else {
            const Result<std::string> written = write_run(*run, ScoreGap::None);
            ASSERT_TRUE(written.has_value()) << written.error().message;
            EXPECT_EQ(parse_run(*written, "file")->lists, run->lists);
        }
        const Result<Qrels> qrels = parse_qrels(text, "file");
        if (!qrels) {
            EXPECT_TRUE(qrels.error().message.starts_with("file:"));
        }
    }
}

}  // namespace
}  // namespace braid::eval
