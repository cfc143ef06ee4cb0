// features, rank, tune --clicks and ab report, as users run them, with good and bad input.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::kAnimals;
using braid::testing::RunResult;
using braid::testing::TemporaryFolder;

class Learning : public ::testing::Test {
protected:
    void SetUp() override {
        const std::string corpus = folder.write("animals.jsonl", kAnimals);
        const RunResult stored = run({"ingest", corpus, "--embedder", "none"});
        ASSERT_EQ(stored.exit_code, 0) << stored.errors;
        queries = folder.write("q.tsv", "q1\thunt mice\nq2\told trees\n");
        qrels = folder.write("qrels.txt", "q1 0 owl 1\nq2 0 oak 2\n");
    }

    RunResult run(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"--data", folder / "data"});
        return braid::testing::run_braid(arguments);
    }
    void refuse(const std::vector<std::string>& arguments, int code, const std::string& why) const {
        const RunResult result = run(arguments);
        EXPECT_EQ(result.exit_code, code) << arguments[0] << "\n" << result.errors;
        EXPECT_TRUE(has(result.errors, why)) << result.errors;
    }

    TemporaryFolder folder;
    std::string queries;
    std::string qrels;
};

TEST_F(Learning, FeaturesAreLinesOfLetor) {
    const RunResult plain = run({"features", "--queries", queries});
    ASSERT_EQ(plain.exit_code, 0) << plain.errors;
    EXPECT_TRUE(has(plain.output, "0 qid:1 1:")) << plain.output;
    const RunResult judged =
        run({"features", "--queries", queries, "--qrels", qrels, "--out", folder / "out.letor"});
    ASSERT_EQ(judged.exit_code, 0) << judged.errors;
    EXPECT_TRUE(judged.output.empty());
    std::ifstream file(folder / "out.letor");
    std::string line;
    std::size_t lines = 0;
    while (std::getline(file, line)) lines += line.starts_with('#') ? 0 : 1;
    EXPECT_GE(lines, 3U);
    const auto json = json::parse(run({"features", "--queries", queries, "--json"}).output);
    ASSERT_TRUE(json);
    EXPECT_EQ(json->find("features")->as_array().size(), 37U);
}

TEST_F(Learning, WhatIsNoInputIsNamed) {
    refuse({"features"}, 2, "--queries");
    refuse({"features", "--queries", folder / "absent"}, 3, "absent");
    refuse({"features", "--queries", queries, "--candidates", "0"}, 2, "candidates");
    refuse({"rank", "train", "--queries", queries}, 2, "--qrels FILE, or --clicks FILE");
    refuse({"rank", "train", "--queries", queries, "--clicks", queries}, 2,
           "--clicks replaces --queries, --query-vectors and --qrels");
    refuse({"rank", "train", "--clicks", folder.write("empty.jsonl", "")}, 2, "no click");
    refuse({"rank", "train", "--clicks", folder.write("half.jsonl", "{\"query\": \"a\", \"sho")}, 2,
           "half.jsonl:1");
    refuse({"tune", "--clicks",
            folder.write("types.jsonl", R"({"query": 7, "shown": [], "clicked": []})")},
           2, "types.jsonl:1");
    refuse({"tune", "--clicks",
            folder.write("more.jsonl", R"({"query": "a", "shown": ["x"], "clicked": ["y"]})")},
           2, "clicked but not shown");
    refuse({"tune", "--clicks", queries, "--click-bias", "many"}, 2, "--click-bias");
    refuse({"rank", "show"}, 3, "has no learned ranking");
    refuse({"rank", "show", "--collection", "nowhere"}, 3, "nowhere");
    const RunResult without = braid::testing::run_braid(
        {"--data", folder / "data", "rank", "train", "--queries", queries, "--qrels", qrels},
        {.environment = {{"BRAID_LIGHTGBM", folder / "no.so"}}});
    EXPECT_NE(without.exit_code, 0);
    EXPECT_TRUE(has(without.errors, "no.so")) << without.errors;
}

TEST_F(Learning, JudgedQueriesThatTheFileLacksHaveNoPart) {
    const std::string more =
        folder.write("more.txt", "q1 0 owl 1\nq2 0 oak 2\nq8 0 owl 1\nq9 0 oak 1\n");
    const std::vector<std::string> tune{"tune", "--folds", "2", "--json", "--queries", queries};
    auto with = [&](const std::string& file) {
        std::vector<std::string> arguments = tune;
        arguments.insert(arguments.end(), {"--qrels", file});
        return run(arguments);
    };
    const RunResult few = with(qrels);
    const RunResult all = with(more);
    ASSERT_EQ(few.exit_code, 0) << few.errors;
    ASSERT_EQ(all.exit_code, 0) << all.errors;
    EXPECT_TRUE(has(all.errors, "2 judged queries are not in " + queries)) << all.errors;
    EXPECT_FALSE(has(few.errors, "judged quer")) << few.errors;
    const auto mean = [](const RunResult& result) {
        const auto json = json::parse(result.output);
        return json ? json->find("settings")->as_array().front().find("mean")->as_double() : -1;
    };
    EXPECT_GT(mean(few), 0);
    EXPECT_EQ(mean(few), mean(all));
    refuse({"tune", "--queries", folder.write("no.tsv", ""), "--qrels", qrels}, 2,
           "no.tsv holds no query");
}

TEST_F(Learning, AConfigurationThatCannotBeWrittenIsNamedBeforeTheWork) {
    const auto refuse_file = [&](const std::string& file, int code, const std::string& why) {
        refuse({"tune", "--queries", queries, "--qrels", qrels, "--folds", "2", "--write", file},
               code, why);
    };
    refuse_file(folder / "absent/config.json", 3, "there is no folder");
    refuse_file(folder.write("half.json", "{"), 2, "half.json");
    refuse_file(folder.write("list.json", "[]"), 2, "does not hold a JSON object");
    refuse_file(folder.write("profiles.json", R"({"profiles": []})"), 2,
                "\"profiles\" is not an object");
}

TEST_F(Learning, WhatAnswersLackIsSaidAsTheyDo) {
    const RunResult tuned = run({"tune", "--queries", queries, "--qrels", qrels, "--folds", "2",
                                 "--stages", R"(["rank"])"});
    EXPECT_EQ(tuned.exit_code, 0) << tuned.errors;
    EXPECT_TRUE(has(tuned.errors, "are incomplete: ")) << tuned.errors;
    EXPECT_TRUE(has(tuned.errors, "learned ranking")) << tuned.errors;
}

TEST_F(Learning, DroppingWhatIsNotThereIsNoError) {
    const RunResult dropped = run({"rank", "drop"});
    EXPECT_EQ(dropped.exit_code, 0) << dropped.errors;
    const RunResult skipped = run({"retrieve", "hunt mice", "--stages", R"(["rank"])"});
    EXPECT_EQ(skipped.exit_code, 0) << skipped.errors;
    EXPECT_TRUE(has(skipped.output, "none of the collections searched has")) << skipped.output;
}

TEST_F(Learning, ADamagedRankingStopsNothingElse) {
    const std::string file = folder / "data/collections/default/ranker";
    for (const std::string content : {"", "BRNK", "nonsense nonsense nonsense"}) {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
        const RunResult found = run({"retrieve", "hunt mice"});
        EXPECT_EQ(found.exit_code, 0) << found.errors;
        const RunResult ranked = run({"retrieve", "hunt mice", "--stages", R"(["rank"])"});
        EXPECT_EQ(ranked.exit_code, 0) << ranked.errors;
        EXPECT_TRUE(has(ranked.output, "was skipped")) << ranked.output;
        EXPECT_EQ(run({"check"}).exit_code, 4);
        EXPECT_NE(run({"rank", "show"}).exit_code, 0);
    }
    EXPECT_EQ(run({"rank", "drop"}).exit_code, 0);
    EXPECT_EQ(run({"check"}).exit_code, 0);
}

TEST_F(Learning, ExperimentsAreReported) {
    std::string log;
    for (int i = 0; i < 40; ++i) {
        const std::string n = std::to_string(i);
        log += R"({"event":"answer","experiment":"x","id":"i)" + n + R"(","key":"k)" + n +
               R"(","side":")" + (i % 2 == 0 ? "a" : "b") +
               R"(","query":"q","documents":["d"],"chunks":["c"]})" + "\n";
        if (i % 2 == 1) {
            log += R"({"event":"click","experiment":"x","id":"i)" + n + R"(","chunk":"c"})" + "\n";
        }
    }
    const std::string path = folder.write("log.jsonl", log);
    const RunResult shown = run({"ab", "report", path, "--clicks-out", folder / "clicks.jsonl"});
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_TRUE(has(shown.output, "b is better")) << shown.output;
    EXPECT_TRUE(std::filesystem::exists(folder / "clicks.jsonl"));
    const auto json = json::parse(run({"ab", "report", path, "--json"}).output);
    ASSERT_TRUE(json);
    EXPECT_EQ(json->find("clicked_gain")->find("mean")->as_double(), 1);
    refuse({"ab", "report"}, 2, "LOG");
    refuse({"ab", "report", folder / "absent"}, 3, "absent");
    refuse({"ab", "report", folder.write("none.jsonl", "")}, 2, "no answer");
    refuse({"ab", "report", folder.write("bad.jsonl", "{}\n")}, 2, "bad.jsonl:1");
    refuse({"ab", "report", path, "--experiment", "y"}, 3, "\"y\"");
    const RunResult cut =
        run({"ab", "report", folder.write("cut.jsonl", log.substr(0, log.size() - 9))});
    EXPECT_EQ(cut.exit_code, 0) << cut.errors;
    EXPECT_TRUE(has(cut.errors, "is incomplete and was skipped")) << cut.errors;
    refuse({"serve", "--ab", path}, 2, "must be given together");
    refuse(
        {"serve", "--ab", folder.write("e.json", R"({"name": "x"})"), "--ab-log", folder / "e.log"},
        2, "the same");
}

}  // namespace
}  // namespace braid::cli
