// run, eval, fuse, tune and bench: the commands that measure, run as users run them.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "braid/json/json.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"
#include "ingest/npy_writer.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::RunningBraid;
using braid::testing::RunResult;
using braid::testing::TemporaryFolder;

std::string contents(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Rows of two floats as a NumPy file.
std::string npy(const std::vector<float>& numbers) {
    return braid::testing::npy_of("<f4", numbers.size() / 2, 2, numbers);
}

class Measuring : public ::testing::Test {
protected:
    void SetUp() override {
        const std::string corpus = folder.write(
            "corpus.jsonl",
            R"({"_id": "fox", "text": "Red foxes hunt mice at dusk.", "vector": [1, 0]})"
            "\n"
            R"({"_id": "owl1", "document_id": "owl", "text": "Owls hunt mice at night.", "vector": [0.8, 0.2]})"
            "\n"
            R"({"_id": "owl2", "document_id": "owl", "text": "Owls hunt mice, owls hunt.", "vector": [0.6, 0.4]})"
            "\n"
            R"({"_id": "oak", "text": "Oaks are old trees.", "vector": [0, 1]})"
            "\n");
        const RunResult result = run({"ingest", corpus, "--embedder", "external"});
        ASSERT_EQ(result.exit_code, 0) << result.errors;
        query_file = folder.write("queries.tsv", "q1\thunt mice\nq2\told trees\n");
        vector_file = folder.write("queries.npy", npy({1, 0, 0, 1}));
    }
    RunResult run(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"--data", folder / "data"});
        return braid::testing::run_braid(arguments);
    }
    Value json(std::vector<std::string> arguments) {
        arguments.emplace_back("--json");
        const RunResult result = run(arguments);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return json::parse(result.output).value_or(Value());
    }

    TemporaryFolder folder;
    std::string query_file;
    std::string vector_file;
};

TEST_F(Measuring, ARunRanksDocumentsWithFallingScores) {
    const RunResult result =
        run({"run", "--queries", query_file, "--strategy", "sparse", "--top-k", "5"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    std::istringstream lines(result.output);
    std::string query;
    std::string q0;
    std::string document;
    std::string tag;
    int rank = 0;
    double score = 0;
    std::vector<std::string> found;
    double before = 0;
    while (lines >> query >> q0 >> document >> rank >> score >> tag) {
        found.push_back(query.append(" ").append(document));
        EXPECT_TRUE(rank == 1 || score < before);
        before = score;
        EXPECT_EQ(tag, "sparse");
    }
    EXPECT_EQ(found, (std::vector<std::string>{"q1 owl", "q1 fox", "q2 oak"}));
}

TEST_F(Measuring, ARunIsWrittenToAFileWithItsTimingsBesideIt) {
    const std::string out = folder / "dense.trec";
    const RunResult result = run({"run", "--queries", query_file, "--query-vectors", vector_file,
                                  "--strategy", "dense", "--top-k", "1", "--out", out});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(contents(out), "q1 Q0 fox 1 1 dense\nq2 Q0 oak 1 1 dense\n");
    const auto timings = json::parse(contents(out + ".json"));
    ASSERT_TRUE(timings);
    EXPECT_EQ(timings->find("queries")->as_int(), 2);
    EXPECT_NE(timings->find("legs")->find("dense"), nullptr);
}

TEST_F(Measuring, RunsAreEvaluatedSideBySide) {
    const std::string a = folder.write("a.trec", "q1 Q0 fox 1 2 a\nq1 Q0 owl 2 1 a\n");
    const std::string b = folder.write("b.trec", "q1 Q0 owl 1 2 b\nq2 Q0 oak 1 2 b\n");
    const std::string qrels = folder.write("qrels.txt", "q1 0 owl 1\nq2 0 oak 1\n");
    const Value value = json({"eval", "--qrels", qrels, "--measures", "RR@10,P@1", a, b});
    const Array& runs = value.find("runs")->as_array();
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[0].find("name")->as_string(), "a");
    EXPECT_EQ(runs[0].find("measures")->find("RR@10")->as_double(), 0.25);
    EXPECT_EQ(runs[1].find("measures")->find("P@1")->as_double(), 1.0);

    const std::string page = folder / "report.html";
    const RunResult table =
        run({"eval", "--qrels", qrels, a, b, "--html", page, "--queries", query_file});
    EXPECT_EQ(table.exit_code, 0) << table.errors;
    EXPECT_TRUE(has(table.output, "nDCG@10")) << table.output;
    EXPECT_TRUE(has(contents(page), "old trees"));
}

TEST_F(Measuring, RunsAreFusedAtFullPrecision) {
    const std::string a = folder.write("a.trec", "q1 Q0 fox 1 2 a\nq1 Q0 owl 2 1 a\n");
    const std::string b = folder.write("b.trec", "q1 Q0 owl 1 2 b\n");
    const RunResult rrf = run({"fuse", "--method", "rrf", a, b});
    EXPECT_EQ(rrf.exit_code, 0) << rrf.errors;
    EXPECT_EQ(rrf.output,
              "q1 Q0 owl 1 0.03252247488101534 rrf\nq1 Q0 fox 2 0.01639344262295082 rrf\n");
    const RunResult base = run({"fuse", "--rank-base", "0", "--k", "2", a});
    EXPECT_EQ(base.output, "q1 Q0 fox 1 0.5 rrf\nq1 Q0 owl 2 0.3333333333333333 rrf\n");
    const RunResult sum = run({"fuse", "--method", "weighted_sum", "--weights", "0.75,0.25", a, b});
    EXPECT_EQ(sum.output, "q1 Q0 fox 1 0.75 weighted_sum\nq1 Q0 owl 2 0.25 weighted_sum\n");
    const RunResult preset = run({"fuse", "--preset", "qdrant", a});
    EXPECT_EQ(preset.output, "q1 Q0 fox 1 0.5 rrf\nq1 Q0 owl 2 0.3333333333333333 rrf\n");
}

TEST_F(Measuring, TuningShowsEverySettingAndWhatItIsWorth) {
    const std::string qrels = folder.write("qrels.txt", "q1 0 fox 1\nq2 0 oak 1\nq9 0 oak 1\n");
    const std::vector<std::string> command{"tune",      "--queries", query_file, "--query-vectors",
                                           vector_file, "--qrels",   qrels,      "--folds",
                                           "2"};
    const Value value = json(command);
    const Array& settings = value.find("settings")->as_array();
    EXPECT_EQ(settings.size(), 42U + 12 * 9) << "12 ways to score words, each 9 times";
    EXPECT_EQ(settings.front().find("name")->as_string(), "now");
    EXPECT_EQ(value.find("chosen")->as_array().size(), 2U);
    EXPECT_FALSE(value.find("clearly_better")->as_bool()) << "nothing is, on three queries";
    EXPECT_FALSE(value.find("fusion_helps")->as_bool()) << "likewise";
    EXPECT_NE(settings.back().find("milliseconds"), nullptr);
    const RunResult shown = run(command);
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_TRUE(has(shown.output, "dense alone")) << shown.output;
    EXPECT_TRUE(has(shown.output, "On held-out queries (2 folds)")) << shown.output;
}

TEST_F(Measuring, TuningWithoutVectorsSaysThatThereIsNothingToFuse) {
    const std::string corpus =
        folder.write("words.jsonl", R"({"_id": "fox", "text": "Red foxes hunt mice."})"
                                    "\n"
                                    R"({"_id": "oak", "text": "Oaks are old trees."})"
                                    "\n");
    ASSERT_EQ(run({"ingest", corpus, "--collection", "words", "--embedder", "none"}).exit_code, 0);
    const std::string qrels = folder.write("qrels.txt", "q1 0 fox 1\nq2 0 oak 1\n");
    const std::vector<std::string> command{
        "tune", "--collection", "words", "--queries", query_file, "--qrels", qrels, "--folds", "2"};
    const Value value = json(command);
    EXPECT_EQ(value.find("settings")->as_array().size(), 2U + 12) << "ways to score words";
    EXPECT_FALSE(value.find("fusion_helps")->as_bool());
    EXPECT_FALSE(value.find("recommended")->as_bool());
    EXPECT_TRUE(has(run(command).output, "nothing to fuse"));
}

TEST_F(Measuring, TuningWritesAProfileThatIsClearlyBetter) {
    std::string queries;
    std::string qrels;
    std::vector<float> vectors;
    for (int i = 0; i < 30; ++i) {
        queries += "q" + std::to_string(i) + "\thunt mice\n";
        qrels += "q" + std::to_string(i) + " 0 oak 1\n";
        vectors.insert(vectors.end(), {0, 1});
    }
    const std::string config =
        folder.write("config.json", R"({"profiles": {"mine": {"top_k": 3}}})");
    const RunResult shown =
        run({"tune", "--queries", folder.write("q.tsv", queries), "--query-vectors",
             folder.write("q.npy", npy(vectors)), "--qrels", folder.write("q.txt", qrels),
             "--strategy", "sparse", "--write", config});
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    const Value written = json::parse(contents(config)).value_or(Value());
    const Value* const profiles = written.find("profiles");
    ASSERT_NE(profiles, nullptr) << contents(config);
    EXPECT_NE(profiles->find("mine"), nullptr) << contents(config);
    ASSERT_NE(profiles->find("default"), nullptr) << contents(config);
    EXPECT_EQ(profiles->find("default")->find("strategy")->as_string(), "dense");
}

TEST_F(Measuring, TuningFindsTheFieldThatCounts) {
    std::string corpus;
    std::string queries;
    std::string qrels;
    for (int i = 0; i < 20; ++i) {
        const std::string n = std::to_string(i);
        const std::string word = "word" + n;
        corpus += R"({"_id": "head)" + n + R"(", "title": ")" + word +
                  R"(", "text": "Of animals, )" + R"(rivers, hills, woods and other things."})" +
                  "\n";
        corpus += R"({"_id": "body)" + n + R"(", "title": "Other", "text": ")" + word + " and " +
                  word + R"(."})" + "\n";
        queries += "q" + n + "\t" + word + "\n";
        qrels += "q" + n + " 0 head" + n + " 1\n";
    }
    ASSERT_EQ(run({"ingest", folder.write("heads.jsonl", corpus), "--collection", "heads",
                   "--embedder", "none"})
                  .exit_code,
              0);
    const std::string config = folder / "heads.json";
    const RunResult shown =
        run({"tune", "--collection", "heads", "--queries", folder.write("h.tsv", queries),
             "--qrels", folder.write("h.txt", qrels), "--write", config});
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_TRUE(has(shown.output, "Best: sparse alone, title")) << shown.output;
    EXPECT_TRUE(has(contents(config), "\"title\":4")) << contents(config);
    const RunResult answer = run({"retrieve", "word7", "--collection", "heads", "--top-k", "1",
                                  "--bm25", R"({"text_fields": {"title": 4}})"});
    EXPECT_TRUE(has(answer.output, "head7")) << answer.output << answer.errors;
    const RunResult refused =
        run({"retrieve", "word7", "--collection", "heads", "--bm25", R"({"titel": 2})"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_TRUE(has(refused.errors, "titel")) << refused.errors;
}

TEST_F(Measuring, ComparingShowsWhatTwoWaysFindWithoutJudgements) {
    const std::vector<std::string> command{
        "compare",    "--queries", query_file,  "--query-vectors",         vector_file,
        "--strategy", "sparse",    "--against", R"({"strategy": "dense"})"};
    const Value value = json(command);
    EXPECT_EQ(value.find("queries")->as_int(), 2);
    EXPECT_LT(value.find("overlap")->as_double(), 1) << "vectors rank everything";
    EXPECT_EQ(value.find("same_first")->as_int(), 1) << "of q1 words like the owl best";
    EXPECT_FALSE(value.find("differ")->as_array().empty());
    std::vector<std::string> with_page = command;
    with_page.insert(with_page.end(), {"--html", folder / "page.html"});
    const RunResult shown = run(with_page);
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_TRUE(has(shown.output, "% are in both lists")) << shown.output;
    EXPECT_TRUE(has(contents(folder / "page.html"), "hunt mice"));
    for (const char* const against : {"", "[]", "{", R"({"strategie": "dense"})"}) {
        const RunResult refused = run({"compare", "--queries", query_file, "--against", against});
        EXPECT_EQ(refused.exit_code, 2) << against << refused.errors;
    }
    EXPECT_TRUE(has(run({"compare", "--queries", query_file}).errors, "--against"));
    for (const char* const own : {"query", "query_embedding", "top_k"}) {
        const RunResult refused = run({"compare", "--queries", query_file, "--against",
                                       "{\"" + std::string(own) + "\": null}"});
        EXPECT_EQ(refused.exit_code, 2) << refused.errors;
        EXPECT_TRUE(has(refused.errors, "may not have \"" + std::string(own) + "\""));
    }
}

TEST_F(Measuring, WrongUseNamesWhatIsWrong) {
    const std::string a = folder.write("a.trec", "q1 Q0 fox 1 2 a\n");
    const std::string broken = folder.write("broken.trec", "q1 Q0 fox 1\n");
    const auto expect = [&](const std::vector<std::string>& arguments, int code,
                            const std::string& words) {
        const RunResult result = run(arguments);
        EXPECT_EQ(result.exit_code, code) << result.errors;
        EXPECT_TRUE(has(result.errors, words)) << result.errors;
        EXPECT_EQ(result.output, "");
    };
    expect({"run"}, 2, "--queries");
    expect({"run", "--queries", folder / "absent"}, 3, "absent");
    expect({"run", "--queries", query_file, "--top-k", "0"}, 2, "top-k");
    expect({"run", "--queries", query_file, "--strategy", "dense"}, 2, "q1");
    expect(
        {"run", "--queries", query_file, "--query-vectors", folder.write("one.npy", npy({1, 0}))},
        2, "1 row,");
    expect({"eval", a}, 2, "--qrels");
    expect({"eval", "--qrels", folder.write("none.txt", ""), a}, 2, "no judgement");
    expect({"eval", "--qrels", folder.write("q.txt", "q1 0 fox 1\n"), "--measures", "nDGC@10", a},
           2, "nDCG");
    expect({"tune", "--queries", query_file}, 2, "--qrels");
    expect({"tune", "--queries", query_file, "--qrels", folder.write("x.txt", "q7 0 fox 1\n")}, 2,
           "judges none of the queries");
    expect({"tune", "--queries", query_file, "--query-vectors", vector_file, "--qrels",
            folder.write("y.txt", "q1 0 fox 1\n")},
           2, "folds");
    expect({"fuse", broken}, 2, "broken.trec:1");
    expect({"fuse", "--weights", "1,2", a}, 2, "2 given for 1 runs");
    expect({"fuse", "--weights", "x", a}, 2, "\"x\"");
    expect({"fuse", "--method", "dbsf", "--weights", "1", a}, 2, "dbsf");
    expect({"fuse", "--method", "dbsf", "--k", "1", a}, 2, "--k");
    expect({"fuse", "--preset", "qdrnt", a}, 2, "qdrant");
    expect({"fuse", "--k", "-1", a}, 2, "k");
    expect({"bench", "sparse", "--corpus", a}, 2, "--queries");
    expect({"bench", "dense", "--base", folder / "absent", "--queries", vector_file}, 3, "absent");
    expect({"bench", "dense", "--base", vector_file, "--queries", vector_file, "--recall", "2"}, 2,
           "--recall");
}

TEST_F(Measuring, BenchSparseMeasuresAndLeavesNothingBehind) {
    const std::string corpus = folder.write("lines.txt", "red fox\n\nold oak\nfox and oak\n");
    const std::string queries = folder.write("lines2.txt", "fox\noak\n");
    const std::string scratch = folder / "scratch";
    std::filesystem::create_directory(scratch);
    const Value value = json({"bench", "sparse", "--corpus", corpus, "--queries", queries,
                              "--threads", "2", "--scratch", scratch});
    for (const char* key : {"qps", "p50_us", "p99_us", "index_seconds", "index_bytes"}) {
        EXPECT_NE(value.find(key), nullptr) << key;
    }
    EXPECT_TRUE(std::filesystem::is_empty(scratch));
}

TEST_F(Measuring, BenchDenseFindsWhatTheExactSearchFinds) {
    const std::string base = folder.write("base.npy", npy({1, 0, 0, 1, 0.6F, 0.8F}));
    const Value value =
        json({"bench", "dense", "--base", base, "--queries", vector_file, "--top-k", "2"});
    for (const char* key : {"qps", "p50_us", "p99_us", "build_seconds", "learn_seconds",
                            "index_bytes", "memory_bytes", "exact_qps"}) {
        EXPECT_NE(value.find(key), nullptr) << key;
    }
    EXPECT_EQ(value.find("recall")->as_double(), 1.0);
}

TEST_F(Measuring, BenchWaitsForAnotherProgramsWord) {
    const std::string corpus = folder.write("lines.txt", "red fox\n\nold oak\nfox and oak\n");
    const std::string queries = folder.write("lines2.txt", "fox\noak\n");
    RunningBraid braid({"bench", "sparse", "--corpus", corpus, "--queries", queries, "--analyzer",
                        "simple", "--wait", "--json"});
    const auto ready = json::parse(braid.read_line().value_or(""));
    ASSERT_TRUE(ready);
    EXPECT_TRUE(ready->find("ready")->as_bool());
    braid.write("ids {}\nround {}\nnonsense\n");
    EXPECT_EQ(braid.read_line().value_or(""), R"({"ids":[[0,3],[2,3]]})");
    const auto round = json::parse(braid.read_line().value_or(""));
    ASSERT_TRUE(round);
    EXPECT_GT(round->find("qps")->as_double(), 0);
    EXPECT_TRUE(has(braid.read_line().value_or(""), "nonsense"));
    EXPECT_EQ(braid.finish().exit_code, 0);
}

TEST_F(Measuring, BenchHybridAnswersWholeRequests) {
    const std::string corpus = folder.write("lines.txt", "red fox\nold oak\n");
    const std::string queries = folder.write("lines2.txt", "fox\noak\n");
    const std::string base = folder.write("base.npy", npy({1, 0, 0, 1}));
    const Value value = json({"bench", "hybrid", "--corpus", corpus, "--base", base, "--queries",
                              queries, "--query-vectors", vector_file});
    EXPECT_GT(value.find("qps")->as_double(), 0);
}

}  // namespace
}  // namespace braid::cli
