#include "braid/eval/evaluate_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace braid::eval {
namespace {

namespace fs = std::filesystem;

/// A folder of its own, removed at the end.
class EvaluateFiles : public ::testing::Test {
protected:
    EvaluateFiles() {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        folder = fs::temp_directory_path() /
                 ("braid_eval_" + std::string(test->name()) + "_" + std::to_string(::getpid()));
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }

    std::string file(const std::string& name, const std::string& text) {
        const fs::path path = folder / name;
        fs::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
        return path.string();
    }

    fs::path folder;
};

TEST_F(EvaluateFiles, ReadsComparesAndNamesRunsByTheirFiles) {
    const EvalRequest request{
        file("test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n"),
        {file("bm25.v2.trec", "q1 Q0 d1 1 1 x\nq2 Q0 d2 1 1 x\n"),
         file("dense.trec", "q1 Q0 d1 1 1 x\n")},
        "Success@1,MRR@10",
        file("queries.tsv", "q1\tfirst\nq2\tsecond\n"),
        {.resamples = 100}};

    const Result<EvalOutcome> outcome = evaluate_files(request);

    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_EQ(outcome->queries.size(), 2U);
    const Value value = to_value(outcome->comparison);
    const Array& runs = value.find("runs")->as_array();
    EXPECT_EQ(*runs[0].find("name"), Value("bm25.v2"));
    EXPECT_EQ(*runs[1].find("name"), Value("dense"));
    EXPECT_EQ(*runs[1].find("measures"), Value(Object{{"Success@1", 0.5}, {"RR@10", 0.5}}));
    EXPECT_EQ(*runs[1].find("missing_queries"), Value(1));
}

TEST_F(EvaluateFiles, NamesRunsByTheirPathsIfFilesAreCalledAlike) {
    const std::string qrels = file("qrels", "q1 0 d1 1\n");
    const std::string a = file("a/run.trec", "q1 Q0 d1 1 1 x\n");
    const std::string b = file("b/run.trec", "q1 Q0 d1 1 1 x\n");
    const std::string c = file("c.trec", "");

    const Result<EvalOutcome> outcome = evaluate_files({qrels, {a, b, c}, "", "", {}});
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_EQ(outcome->runs[0].name, a);
    EXPECT_EQ(outcome->runs[1].name, b);
    EXPECT_EQ(outcome->runs[2].name, "c");
    EXPECT_EQ(outcome->comparison.measures, default_measures());

    const Result<EvalOutcome> twice = evaluate_files({qrels, {a, a}, "", "", {}});
    ASSERT_FALSE(twice.has_value());
    EXPECT_EQ(twice.error().code, ErrorCode::InvalidArgument);
}

TEST_F(EvaluateFiles, PassesOnWhatIsWrongWithAFile) {
    const std::string qrels = file("qrels", "q1 0 d1 1\n");
    const std::string run = file("run.trec", "q1 Q0 d1 1 1 x\n");
    const auto error = [](const EvalRequest& request) {
        const Result<EvalOutcome> outcome = evaluate_files(request);
        return outcome ? "no error" : outcome.error().message;
    };
    EXPECT_NE(error({qrels + "x", {run}, "", "", {}}).find("there is no file"), std::string::npos);
    EXPECT_EQ(error({run, {run}, "", "", {}}).substr(0, run.size() + 3), run + ":1:");
    EXPECT_EQ(error({qrels, {qrels}, "", "", {}}).substr(0, qrels.size() + 3), qrels + ":1:");
    EXPECT_NE(error({qrels, {run}, "nDGC@10", "", {}}).find("did you mean nDCG?"),
              std::string::npos);
    EXPECT_NE(error({qrels, {}, "", "", {}}).find("no run"), std::string::npos);
    EXPECT_NE(error({qrels, {run}, "", folder.string(), {}}).find("is a directory"),
              std::string::npos);
}

TEST(SharedData, QrelsAndQueriesCanBeRead) {
    const char* given = std::getenv("BRAID_SHARED");  // NOLINT(concurrency-mt-unsafe): one thread
    const fs::path shared = given != nullptr ? given : BRAID_SHARED_DEFAULT;
    if (!fs::exists(shared / "data")) GTEST_SKIP() << "no data under " << shared;
    for (const std::string set : {"scifact", "cranfield", "medline", "xquad/ar", "xquad/th"}) {
        SCOPED_TRACE(set);
        const Result<Qrels> qrels = read_qrels((shared / "data" / set / "qrels/test.tsv").string());
        ASSERT_TRUE(qrels.has_value()) << qrels.error().message;
        const Result<std::vector<Query>> queries =
            read_queries((shared / "data" / set / "queries.jsonl").string());
        ASSERT_TRUE(queries.has_value()) << queries.error().message;
        EXPECT_LE(qrels->queries.size(), queries->size());
    }
}

}  // namespace
}  // namespace braid::eval
