// The `braid` program, run as users run it.

#include <filesystem>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "braid/apps/vocabulary.hpp"
#include "braid/json/json.hpp"
#include "braid/text/display_width.hpp"
#include "braid/wire/answer_json.hpp"
#include "cli/program_fixture.hpp"
#include "cli/program_run.hpp"
#include "ingest/npy_writer.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::kAnimals;
using braid::testing::npy_of;
using braid::testing::RunOptions;
using braid::testing::RunResult;

class Program : public braid::testing::ProgramTest {};

TEST_F(Program, ExplainsItself) {
    const RunResult help = run({"--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_TRUE(has(help.output, "retrieve"));
    EXPECT_EQ(run({"ingest", "--help"}).output,
              braid::testing::run_braid({"help", "ingest"}).output);
    EXPECT_TRUE(run({"--version"}).output.starts_with("braid 0."));
    EXPECT_EQ(run({}).exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(data()));
}

TEST_F(Program, WrongUsageIsExitCodeTwo) {
    expect_failure({"retreive", "x"}, 2, "did you mean \"retrieve\"");
    expect_failure({"ingest"}, 2, "PATH");
    expect_failure({"retrieve", "x", "--top-k", "0"}, 2, "top_k");
    expect_failure({"retrieve", "x", "--filter", "{"}, 2, "--filter");
    expect_failure({"retrieve"}, 2, "QUERY");
    const RunResult json = run({"retrieve", "x", "--json", "--topk", "5"});
    EXPECT_EQ(json.exit_code, 2);
    const auto error = json::parse(json.errors);
    ASSERT_TRUE(error) << json.errors;
    EXPECT_EQ(error->find("error")->find("code")->as_string(), "invalid_argument");
}

TEST_F(Program, IngestsAndRetrieves) {
    const Value report = json({"ingest", folder.write("c.jsonl", kAnimals)});
    EXPECT_EQ(*report.find("chunks"), Value(3));
    EXPECT_EQ(*report.find("created"), Value(true));

    const Value answer = json({"retrieve", "hunting mice at dusk"});
    EXPECT_EQ(ids_of(answer), (std::vector<std::string>{"fox", "owl"}));
    ASSERT_TRUE(wire::answer_from_value(answer, apps::vocabulary()));
    EXPECT_EQ(*answer.find("complete"), Value(true));

    const RunResult text = run({"retrieve", "hunting", "mice", "at", "dusk"});
    EXPECT_EQ(text.exit_code, 0);
    EXPECT_TRUE(has(text.output, "Foxes")) << text.output;
    EXPECT_TRUE(has(text.output, "sparse #1")) << text.output;
    EXPECT_TRUE(has(text.output, "*hunt* *mice*")) << text.output;
    EXPECT_TRUE(has(text.output, "2 hits of 2 candidates")) << text.output;

    const Value again = json({"ingest", folder / "c.jsonl"});
    EXPECT_EQ(*again.find("unchanged"), Value(3));
    EXPECT_EQ(*again.find("chunks"), Value(0));
    EXPECT_EQ(*again.find("created"), Value(false));
}

TEST_F(Program, AnswersTheSameByTheExactEngine) {
    json({"ingest", folder.write("c.jsonl", kAnimals)});
    json({"compact", "--collection", "default"});  // into a segment
    const auto method = [](const Value& answer) {
        return answer.find("sources")->as_array()[0].find("method")->as_string();
    };
    const Value fast = json({"retrieve", "hunting mice at dusk"});
    const Value exact = json({"retrieve", "hunting mice at dusk", "--engine", "exact"});
    EXPECT_EQ(method(fast), "inverted index");
    EXPECT_EQ(method(exact), "exhaustive");
    EXPECT_EQ(*exact.find("chunks"), *fast.find("chunks"));
    expect_failure({"retrieve", "x", "--engine", "exakt"}, 2, "segment, exact");
    expect_failure({"retrieve", "x", "--engine", "exact", "--backend", "opensearch"}, 2, "folder");
}

TEST_F(Program, SearchesATopicAndDoctrineInTheirOwnWords) {
    const std::string lines =
        R"({"_id": "a", "text": "cross the river", "metadata": {"mos_code": "12B"}}
{"_id": "b", "text": "cross the ridge", "metadata": {"mos_code": "11B"}}
)";
    json({"ingest", folder.write("d.jsonl", lines), "--namespace", "arcnet_doctrine"});
    const Value topic =
        json({"retrieve", "cross", "--profile", "topic", "--topic-id", "arcnet_doctrine", "--alpha",
              "0.5", "--k-semantic", "7", "--k-lexical", "9", "--k-context", "1"});
    ASSERT_EQ(ids_of(topic).size(), 1U);
    EXPECT_EQ(*topic.find("chunks")->as_array()[0].find("topicId"), Value("arcnet_doctrine"));
    EXPECT_EQ(*topic.find("sources")->as_array()[0].find("depth"), Value(9));
    expect_failure({"retrieve", "x", "--alpha", "0.5", "--dense-weight", "0.5"}, 2, "alpha");

    EXPECT_EQ(ids_of(json({"doctrine", "cross", "the", "river"})),
              (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(ids_of(json({"doctrine", "cross", "--mos-code", "11B", "--mos-code", "13F"})),
              std::vector<std::string>{"b"});
    EXPECT_TRUE(has(run({"doctrine", "river"}).output, "cross the *river*"));
    expect_failure({"doctrine"}, 2, "MISSION");
}

TEST_F(Program, TakesTheRequestAsJson) {
    ingest_corpus();
    const Value answer = json({"retrieve", "--request", "-"},
                              {.input = R"({"query": "mice", "top_k": 1, "strategy": "sparse"})"});
    EXPECT_EQ(ids_of(answer).size(), 1U);
    EXPECT_EQ(*answer.find("strategy_used"), Value("sparse"));
    const std::string path =
        folder.write("r.json", R"({"query": "mice", "filter": {"year": 2021}})");
    EXPECT_EQ(ids_of(json({"retrieve", "--request", path})), std::vector<std::string>{"owl"});
    // Flags stand above the file.
    EXPECT_EQ(ids_of(json({"retrieve", "--request", path, "--filter", R"({"year": 2020})"})),
              std::vector<std::string>{"fox"});
    expect_failure({"retrieve", "--request", "-"}, 2, "\"top_k\"",
                   {.input = R"({"query": "x", "topk": 1})"});
    expect_failure({"retrieve", "--request", "-"}, 2, "standard input", {.input = "{"});
    expect_failure({"retrieve", "--request", folder / "none.json"}, 3, "none.json");
}

TEST_F(Program, ExplainsWhereAChunkStandsAndWhyItIsNotThere) {
    ingest_corpus();
    const std::vector<std::string> how{"--chunk", "owl", "--strategy", "sparse", "-k", "1"};
    const auto with = [&](const std::string& command, const std::string& query) {
        std::vector<std::string> arguments{command, query};
        arguments.insert(arguments.end(), how.begin(), how.end());
        return arguments;
    };
    const Value why = json(with("why-not", "red hunt"));
    EXPECT_EQ(why.find("lost_at")->as_string(), "cut");
    EXPECT_EQ(why.find("change")->find("key")->as_string(), "top_k");
    EXPECT_EQ(why.find("change")->find("value")->as_int(), 2);
    const Value explained = json(with("explain", "red hunt"));
    EXPECT_FALSE(explained.find("shown")->as_bool());
    EXPECT_EQ(explained.find("legs")->as_array().at(0).find("rank")->as_int(), 2);
    EXPECT_TRUE(has(run(with("why-not", "red hunt")).output, "\"top_k\": 2"));
    for (const std::string command : {"explain", "why-not", "context"}) {
        std::vector<std::string> idle{command, "red hunt", "--strategy", "sparse", "--use-hyde"};
        if (command != "context") idle.insert(idle.end(), {"--chunk", "owl"});
        EXPECT_TRUE(has(run(idle).errors, "Not used here: use_hyde.")) << command;
    }
    expect_failure({"why-not", "red hunt", "--chunk", "nobody"}, 3, "nobody");
    expect_failure({"explain", "red hunt"}, 2, "--chunk");
}

TEST_F(Program, NoHitsAreNoError) {
    ingest_corpus();
    const RunResult result = run({"retrieve", "zebra"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_TRUE(has(result.output, "No hits for \"zebra\".")) << result.output;
}

TEST_F(Program, ServiceReadsItsVariables) {
    ingest_corpus();
    folder.write(".env", "RETRIEVAL_TOP_K=1   # one\n");
    EXPECT_EQ(ids_of(json({"retrieve", "mice"}, {.folder = folder.path().string()})).size(), 1U);
    EXPECT_EQ(ids_of(json({"retrieve", "mice"}, {.folder = folder.path().string(),
                                                 .environment = {{"RETRIEVAL_TOP_K", "2"}}}))
                  .size(),
              2U);
    EXPECT_EQ(
        ids_of(json({"retrieve", "mice", "-k", "1"}, {.environment = {{"RETRIEVAL_TOP_K", "2"}}}))
            .size(),
        1U);
    expect_failure({"retrieve", "mice"}, 2, "RETRIEVAL_TOP_K",
                   {.environment = {{"RETRIEVAL_TOP_K", "many"}}});
}

TEST_F(Program, ChangesChunks) {
    const Value added = json({"add", "--id", "a", "--text", "red fox", "--metadata",
                              R"({"year": 2020, "draft": true})", "--title", "Fox"});
    EXPECT_EQ(*added.find("chunk_id"), Value("a"));
    const std::string version = json::print(*added.find("version"));
    json({"add"}, {.input = R"({"text": "grey owl"})"});

    json({"update", "--id", "a", "--metadata", R"({"draft": null, "year": 2021})", "--sensitivity",
          "public"});
    const Value got = json({"get", "a"});
    const Value& chunk = got.find("chunks")->as_array().at(0);
    EXPECT_EQ(*chunk.find("metadata"), Value(Object{{"year", 2021}}));
    EXPECT_EQ(*chunk.find("sensitivity"), Value("public"));
    EXPECT_TRUE(has(run({"get", "a"}).output, "red fox"));

    const RunResult conflict =
        run({"update", "--id", "a", "--metadata", "{\"x\": 1}", "--if-version", version});
    EXPECT_EQ(conflict.exit_code, 1) << conflict.errors;
    EXPECT_EQ(run({"update", "--id", "zz", "--metadata", "{\"x\": 1}"}).exit_code, 3);
    EXPECT_EQ(run({"get", "a", "zz"}).exit_code, 3);

    EXPECT_EQ(*json({"delete", "--filter", R"({"year": 2021})"}).find("deleted"), Value(1));
    EXPECT_EQ(*json({"delete", "--id", "zz"}).find("deleted"), Value(0));
    EXPECT_EQ(*json({"stats"}).find("chunks"), Value(1));
    expect_failure({"delete", "--filter", "{}"}, 2, "--yes");
    expect_failure({"delete"}, 2, "--id");
    EXPECT_EQ(*json({"delete", "--filter", "{}", "--yes"}).find("deleted"), Value(1));
}

TEST_F(Program, ListsCountsAndDrops) {
    ingest_corpus();
    EXPECT_EQ(*json({"stats"}).find("documents"), Value(3));
    EXPECT_TRUE(has(run({"stats"}).output, "chunks"));
    EXPECT_EQ(json({"facets"}).find("values")->as_array().front().find("value")->as_string(),
              "kind")
        << "the fields";
    const Value facets = json({"facets", "kind"});
    EXPECT_EQ(*facets.find("values"), Value(Array{Object{{"value", "animal"}, {"count", 2}},
                                                  Object{{"value", "plant"}, {"count", 1}}}));
    json({"collections", "create", "vectors", "--embedder", "external", "--dimension", "3"});
    EXPECT_EQ(run({"collections", "create", "vectors"}).exit_code, 1);
    EXPECT_EQ(json({"collections"}).find("collections")->as_array().size(), 2U);
    EXPECT_TRUE(has(run({"collections"}).output, "external 3"));
    expect_failure({"collections", "drop", "vectors"}, 2, "--yes");
    json({"collections", "drop", "vectors", "--yes"});
    EXPECT_EQ(run({"collections", "drop", "vectors", "--yes"}).exit_code, 3);
    expect_failure({"collections", "create", "../x"}, 2, "name");
}

TEST_F(Program, AnalyzesText) {
    const Value analysis = json({"analyze", "Red Foxes"});
    ASSERT_EQ(analysis.find("tokens")->as_array().size(), 2U);
    EXPECT_EQ(*analysis.find("tokens")->as_array()[1].find("term"), Value("fox"));
    EXPECT_EQ(*json({"analyze", "Foxes", "--analyzer", "simple"})
                   .find("tokens")
                   ->as_array()[0]
                   .find("term"),
              Value("foxes"));
    expect_failure({"analyze", "x", "--language", "klingon"}, 2, "klingon");
}

TEST_F(Program, ShowsWhereSettingsComeFrom) {
    std::filesystem::create_directories(folder.path() / "config/braid");
    folder.write("config/braid/config.json", R"({"retrieval": {"bm25_weight": 2}})");
    folder.write(".env", "RETRIEVAL_VECTOR_WEIGHT=0.25\n");
    const RunOptions options{.folder = folder.path().string(),
                             .environment = {{"XDG_CONFIG_HOME", folder / "config"},
                                             {"RETRIEVAL_TOP_K", "9"},
                                             {"OPENAI_API_KEY", "sk-very-secret"}}};
    const RunResult shown = run({"config", "show", "--origin"}, options);
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    for (const char* words :
         {"flag --data", "environment, RETRIEVAL_TOP_K", "environment, OPENAI_API_KEY",
          ".env, RETRIEVAL_VECTOR_WEIGHT", "config.json", "default"}) {
        EXPECT_TRUE(has(shown.output, words)) << words << "\n" << shown.output;
    }
    EXPECT_FALSE(has(shown.output, "very-secret"));
    const RunResult as_json = run({"config", "show", "--json"}, options);
    EXPECT_FALSE(has(as_json.output, "very-secret"));
    EXPECT_TRUE(has(as_json.output, "\"dense_weight\":0.25"));
    folder.write("config/braid/config.json", R"({"retrievl": {}})");
    expect_failure({"stats"}, 2, "\"retrieval\"", options);
}

TEST_F(Program, KeepsVectorsOfTheUsersOwn) {
    const std::string corpus = folder.write("v.jsonl", kAnimals);
    folder.write("v.npy", npy_of<float>("<f4", 3, 2, {1, 0, 0, 1, -1, 0}));
    json({"ingest", corpus, "--embedder", "external"});
    EXPECT_EQ(*json({"stats"}).find("vectors"), Value(3));
    const Value answer = json({"retrieve", "--query-vector", "[0, 1]", "--strategy", "dense"});
    EXPECT_EQ(ids_of(answer).at(0), "owl");
    const std::string query = folder.write("q.npy", npy_of<double>("<f8", 1, 2, {-1, 0.1}));
    EXPECT_EQ(
        ids_of(json({"retrieve", "mice", "--query-vector", query, "--strategy", "dense"})).at(0),
        "oak");
    const Value hybrid = json({"retrieve", "mice", "--query-vector", "[0,1]"});
    EXPECT_EQ(hybrid.find("sources")->as_array().size(), 2U);
    const RunResult text = run({"retrieve", "mice", "--query-vector", "[0,1]", "--explain"});
    EXPECT_TRUE(has(text.output, "dense #1")) << text.output;
    EXPECT_TRUE(has(text.output, "rank 1  × 0.700  = 0.011475")) << text.output;
}

// Issue "Foundation", shown by 4: each bad input has a clear error, its exit code, and loses
// nothing.

TEST_F(Program, RunsFromAnyDirectory) {
    std::filesystem::create_directories(folder.path() / "elsewhere");
    const RunOptions there{.folder = folder / "elsewhere"};
    folder.write("elsewhere/c.jsonl", kAnimals);
    EXPECT_EQ(braid::testing::run_braid({"ingest", "c.jsonl"}, there).exit_code, 0);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "elsewhere/braid-data"));
    EXPECT_EQ(braid::testing::run_braid({"retrieve", "mice"}, there).exit_code, 0);
}

TEST_F(Program, CutsFoldersOfTextsIntoChunks) {
    std::filesystem::create_directories(folder.path() / "notes/sub");
    folder.write("notes/fox.md", "# Foxes\n\n## Diet\n\nFoxes hunt mice.\n");
    folder.write("notes/sub/owl.txt", "Owls hunt at night.\n");
    const Value first = json({"ingest", folder / "notes"});
    EXPECT_EQ(*first.find("text_files"), Value(2));
    const RunResult found = run({"retrieve", "mice"});
    EXPECT_TRUE(has(found.output, "Foxes › Diet")) << found.output;
    EXPECT_EQ(*json({"ingest", folder / "notes"}).find("unchanged_files"), Value(2));
    EXPECT_TRUE(has(run({"ingest", folder / "notes"}).output, "2 unchanged files skipped"));

    folder.write("notes/bad\xFF.md", "text");
    const RunResult bad = run({"ingest", folder / "notes"});
    EXPECT_EQ(bad.exit_code, 1);
    EXPECT_TRUE(has(bad.errors, "bad\xEF\xBF\xBD.md")) << bad.errors;
    std::filesystem::create_directories(folder.path() / "empty");
    expect_failure({"ingest", folder / "empty"}, 3, "holds no files");
    expect_failure({"ingest", folder / "missing.md"}, 3, "missing.md");

    // A folder whose files are all gone: what was stored of it can go too.
    std::filesystem::remove_all(folder / "notes");
    std::filesystem::create_directories(folder / "notes");
    EXPECT_TRUE(has(run({"ingest", folder / "notes"}).errors, "--prune removes them"));
    const RunResult pruned = run({"ingest", folder / "notes", "--prune"});
    EXPECT_EQ(pruned.exit_code, 0) << pruned.errors;
    EXPECT_TRUE(has(pruned.output, "Removed 2 documents")) << pruned.output;
    expect_failure({"ingest", folder / "notes", "--prune"}, 3, "holds no files");
}

TEST_F(Program, SeveralFilesGoIntoOneCollection) {
    const std::string more =
        folder.write("more.jsonl", "{\"_id\": \"elm\", \"text\": \"Elms.\"}\n");
    const Value report = json({"ingest", folder.write("c.jsonl", kAnimals), more});
    EXPECT_EQ(*report.find("chunks"), Value(4));
    const RunResult piped =
        run({"ingest", "-"}, {.input = "{\"_id\": \"yew\", \"text\": \"Yews.\"}\n"});
    EXPECT_EQ(piped.exit_code, 0) << piped.errors;
    EXPECT_EQ(*json({"stats"}).find("chunks"), Value(5));
    expect_failure({"ingest", more, folder / "none.jsonl"}, 3, "none.jsonl");
}

TEST_F(Program, NamespacesAreApart) {
    const std::string path =
        folder.write("n.jsonl",
                     "{\"_id\": \"a\", \"text\": \"red fox\", \"namespace\": \"one\"}\n"
                     "{\"_id\": \"a\", \"text\": \"red owl\"}\n");
    json({"ingest", path, "--namespace", "two"});
    EXPECT_EQ(ids_of(json({"retrieve", "fox", "--namespace", "one"})).size(), 1U);
    EXPECT_EQ(ids_of(json({"retrieve", "fox", "--namespace", "two"})).size(), 0U);
    EXPECT_TRUE(has(run({"collections"}).output, "one, two"));
}

TEST_F(Program, AListOfCollectionsHasRoomForLongNamesAndManyNamespaces) {
    const auto add = [&](const std::string& name) {
        json({"ingest", folder.write("n.jsonl", R"({"_id": "a", "text": "red fox"})"),
              "--namespace", name});
    };
    add("a-tenant-with-a-name-that-is-longer-than-anybody-should-have-to-read");
    for (int i = 0; i < 12; ++i) add("tenant-" + std::to_string(i));
    const std::string shown = run({"collections"}).output;
    EXPECT_TRUE(has(shown, "a-tenant-with-a-nam…, 12 more")) << shown;
    for (const auto line : std::views::split(shown, '\n')) {
        EXPECT_LE(text::display_width(std::string_view(line.begin(), line.end())), 80U) << shown;
    }
    EXPECT_TRUE(has(run({"collections", "--json"}).output, "\"tenant-11\"")) << "all of them";
}

}  // namespace
}  // namespace braid::cli
