// `braid serve`, and the other commands on a database that it serves.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "braid/cli/config/socket_place.hpp"
#include "braid/json/json.hpp"
#include "braid/net/client/http_client.hpp"
#include "cli/program_run.hpp"
#include "cli/served.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::kAnimals;
using braid::testing::run_braid;
using braid::testing::RunningBraid;
using braid::testing::RunOptions;
using braid::testing::RunResult;
using braid::testing::Served;
using braid::testing::steady;
using braid::testing::TemporaryFolder;

int status_of(const std::string& url) {
    net::HttpClientOptions options;
    options.allow_private = true;
    const auto response = net::HttpClient(options).send({.url = url}, {});
    EXPECT_TRUE(response) << response.error().message;
    return response ? response->status : 0;
}

using Command = std::vector<std::string>;

/// Commands and their standard input, each after what those before it did.
std::vector<std::pair<Command, std::string>> commands_to_compare(const TemporaryFolder& folder) {
    const std::string corpus = folder / "corpus.jsonl";
    const std::string queries = folder / "queries.tsv";
    return {
        {{"collections"}, ""},
        {{"stats"}, ""},
        {{"ingest", corpus}, ""},
        {{"ingest", corpus, "--json"}, ""},
        {{"ingest", corpus, "--embedder", "external"}, ""},
        {{"ingest", "-", "--ack"}, R"({"_id": "elm", "text": "Elms are trees too."})"},
        {{"ingest", "-"}, R"({"_id": "bad"})"},
        {{"ingest", folder / "notes", "--collection", "notes"}, ""},
        {{"ingest", folder / "notes", "--collection", "notes"}, ""},
        {{"collections"}, ""},
        {{"collections", "--json"}, ""},
        {{"collections", "create", "made", "--bm25", "okapi", "--json"}, ""},
        {{"collections", "create", "made"}, ""},
        {{"collections", "drop", "made", "--yes"}, ""},
        {{"collections", "drop", "made", "--yes"}, ""},
        {{"retrieve", "hunt", "mice"}, ""},
        {{"retrieve", "hunt", "mice", "--explain"}, ""},
        {{"retrieve", "hunt", "--json", "-k", "1"}, ""},
        {{"retrieve", "hunt", "--collection", "nots"}, ""},
        {{"retrieve", "hunt", "--fusion", "nonsense"}, ""},
        {{"retrieve", "--request", "-", "--json"}, R"({"query": "trees", "top_k": 1})"},
        {{"retrieve", "hunt", "--strategy", "dense"}, ""},
        {{"context", "mice"}, ""},
        {{"context", "mice", "--json", "--budget", "10"}, ""},
        {{"explain", "hunt", "--chunk", "fox"}, ""},
        {{"explain", "hunt", "--chunk", "oak", "--json"}, ""},
        {{"explain", "hunt", "--chunk", "nope"}, ""},
        {{"why-not", "mice", "--chunk", "fox", "-k", "1"}, ""},
        {{"why-not", "mice", "--chunk", "oak", "--json"}, ""},
        {{"facets", "kind"}, ""},
        {{"facets", "year", "--json", "--filter", R"({"kind": "animal"})"}, ""},
        {{"facets", "year", "--filter", R"({"year": {"$oops": 1}})"}, ""},
        {{"get", "fox", "oak"}, ""},
        {{"get", "fox", "nope", "--json"}, ""},
        {{"add", "--id", "ash", "--text", "Ash trees.", "--title", "Ashes"}, ""},
        {{"add", "--id", "ash", "--text", "Ash trees.", "--if-version", "999"}, ""},
        {{"add", "--json"}, R"({"_id": "yew", "text": "Yews grow slowly."})"},
        {{"add", "--text", "x", "--namespace", "other", "--id", "x"}, ""},
        {{"update", "--id", "ash", "--metadata", R"({"year": 3})"}, ""},
        {{"update", "--id", "nope", "--sensitivity", "public", "--json"}, ""},
        {{"update", "--id", "ash", "--sensitivity", "odd"}, ""},
        {{"delete", "--id", "yew", "--json"}, ""},
        {{"delete", "--document", "ash"}, ""},
        {{"delete", "--filter", "{}"}, ""},
        {{"delete", "--filter", R"({"kind": "plant"})"}, ""},
        {{"delete", "--filter", "{}", "--yes", "--namespace", "other"}, ""},
        {{"run", "--queries", queries, "--strategy", "sparse"}, ""},
        {{"run", "--queries", queries, "--json"}, ""},
        {{"stats", "--json"}, ""},
        {{"stats", "--namespace", "other"}, ""},
        {{"check"}, ""},
        {{"check", "--json"}, ""},
    };
}

TEST(Serve, GivesTheSameAnswersThroughTheServerAsWithoutOne) {
    const TemporaryFolder folder;
    const std::string here = folder / "here";
    const std::string there = folder / "there";
    folder.write("corpus.jsonl", kAnimals);
    std::filesystem::create_directory(folder / "notes");
    folder.write("notes/a.md", "# Ada\n\n## Lamps\nShe keeps the lamps.\n\n## Boats\nAnd boats.\n");
    folder.write("notes/b.txt", "Plain words of a lighthouse.");
    folder.write("queries.tsv", "q1\thunt mice\nq2\told trees\n");
    Served server(there, {"--log", "none"});
    for (const auto& [command, input] : commands_to_compare(folder)) {
        std::string shown;
        for (const std::string& word : command) shown += word + " ";
        SCOPED_TRACE(shown);
        RunOptions options;
        options.input = input;
        const auto run_at = [&](const std::string& data) {
            Command whole{"--data", data};
            whole.insert(whole.end(), command.begin(), command.end());
            RunResult result = run_braid(whole, options);
            for (std::string* const text : {&result.output, &result.errors}) {
                *text = steady(std::regex_replace(*text, std::regex(data), "DATA"));
            }
            return result;
        };
        // What a server has, exists: only without one is there nothing yet.
        if (command.front() != "ingest" && !std::filesystem::exists(here)) {
            EXPECT_EQ(run_at(here).exit_code, 3);
            continue;
        }
        const RunResult local = run_at(here);
        const RunResult remote = run_at(there);
        EXPECT_EQ(local.exit_code, remote.exit_code) << local.errors << remote.errors;
        EXPECT_EQ(local.output, remote.output);
        EXPECT_EQ(local.errors, remote.errors);
    }
    const RunResult stopped = server.stop();
    EXPECT_EQ(stopped.exit_code, 0) << stopped.errors;
    // What was acknowledged is there.
    const RunResult found = run_braid({"--data", there, "get", "fox", "elm"});
    EXPECT_EQ(found.exit_code, 0) << found.errors;
}

TEST(Serve, AnswersOverHttpAndStopsWhenTold) {
    const TemporaryFolder folder;
    for (const int signal : {SIGTERM, SIGINT}) {
        Served server(folder / "data", {"--metrics-port", "0"});
        EXPECT_EQ(status_of(server.url() + "/healthz"), 200);
        EXPECT_EQ(status_of(server.url() + "/readyz"), 200);
        EXPECT_EQ(status_of(server.url() + "/v1/collections"), 200);
        EXPECT_EQ(status_of(server.url() + "/nowhere"), 404);
        struct stat found {};
        ASSERT_EQ(::stat(server.socket().c_str(), &found), 0);
        EXPECT_EQ(found.st_mode & 0777U, 0600U);
        const std::string socket = server.socket();
        const RunResult result = server.stop(signal);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_NE(result.errors.find("listening on http://127.0.0.1:"), std::string::npos);
        EXPECT_FALSE(std::filesystem::exists(socket));
    }
}

TEST(Serve, AnswersHeadWithTheLengthThatGetHas) {
    const TemporaryFolder folder;
    const Served server(folder / "data");
    net::HttpClientOptions options;
    options.allow_private = true;
    const net::HttpClient client(options);
    for (const std::string target :
         {"/", "/docs", "/v1/collections", "/nowhere", "/page/none.js"}) {
        const auto got = client.send({.method = "GET", .url = server.url() + target}, {});
        const auto head = client.send({.method = "HEAD", .url = server.url() + target}, {});
        ASSERT_TRUE(got && head) << target;
        EXPECT_EQ(head->status, got->status) << target;
        EXPECT_EQ(head->body, "") << target;
        EXPECT_FALSE(got->body.empty()) << target;
        EXPECT_EQ(head->header("Content-Length").value_or("none"), std::to_string(got->body.size()))
            << target;
    }
}

TEST(Serve, IsTheOnlyOneOfItsDatabase) {
    const TemporaryFolder folder;
    const Served server(folder / "data");
    const RunResult second = run_braid({"--data", folder / "data", "serve", "--port", "0"});
    EXPECT_EQ(second.exit_code, 5) << second.errors;
    EXPECT_EQ(status_of(server.url() + "/healthz"), 200);
    const RunResult taken = run_braid({"--data", folder / "other", "serve", "--port",
                                       server.url().substr(server.url().rfind(':') + 1)});
    EXPECT_EQ(taken.exit_code, 1) << taken.errors;
    EXPECT_NE(taken.errors.find("cannot listen"), std::string::npos) << taken.errors;
}

TEST(Open, ShowsThePageOfTheServerThatRunsAndElseServes) {
    const TemporaryFolder folder;
    const std::string data = folder / "data";
    // A browser that notes what it was asked to show.
    const std::string browser = folder.write("browser", "#!/bin/sh\necho \"$1\" >> \"$0.seen\"\n");
    std::filesystem::permissions(browser, std::filesystem::perms::owner_all);
    RunOptions options;
    options.environment = {{"BROWSER", browser}};
    RunningBraid open({"--data", data, "open", "--json"}, options);
    const auto line = open.read_line();
    ASSERT_TRUE(line) << open.finish().errors;
    const auto facts = json::parse(*line);
    ASSERT_TRUE(facts) << *line;
    const std::string url = facts->find("listening")->as_string();
    EXPECT_EQ(status_of(url + "/"), 200);

    const RunResult second = run_braid({"--data", data, "open", "--json"}, options);
    EXPECT_EQ(second.exit_code, 0) << second.errors;
    EXPECT_EQ(second.output, R"({"listening":")" + url + "\"}\n");
    EXPECT_NE(second.errors.find("opening " + url), std::string::npos) << second.errors;
    const RunResult quiet = run_braid({"--data", data, "open", "--no-browser"}, options);
    EXPECT_NE(quiet.errors.find("the page is at " + url), std::string::npos) << quiet.errors;

    const std::string port = url.substr(url.rfind(':') + 1);
    const RunResult taken =
        run_braid({"--data", folder / "other", "open", "--port", port, "--no-browser"}, options);
    EXPECT_EQ(taken.exit_code, 1) << "the port was asked for, and is taken";
    open.signal(SIGTERM);
    EXPECT_EQ(open.finish().exit_code, 0);

    const auto seen = [&] {
        std::ifstream file(browser + ".seen");
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const std::string both = url + "\n" + url + "\n";
    for (int i = 0; i < 500 && seen() != both; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(seen(), both);
}

TEST(Serve, KeepsOthersOutWhenItsLockAndSocketAreRemovedAndWritesNoMore) {
    const TemporaryFolder folder;
    const std::string data = folder / "data";
    const std::string corpus = folder.write("corpus.jsonl", kAnimals);
    Served server(data);
    ASSERT_EQ(run_braid({"--data", data, "ingest", corpus}).exit_code, 0);
    ASSERT_TRUE(std::filesystem::remove(data + "/LOCK"));
    ASSERT_TRUE(std::filesystem::remove(server.socket()));
    const RunResult second = run_braid({"--data", data, "add", "--text", "second"});
    EXPECT_EQ(second.exit_code, 5) << second.errors;
    EXPECT_EQ(run_braid({"--data", data, "serve", "--port", "0"}).exit_code, 5);

    net::HttpClientOptions options;
    options.allow_private = true;
    const auto refused = net::HttpClient(options).send(
        {.method = "POST",
         .url = server.url() + "/v1/collections/default/chunks",
         .headers = {{"Content-Type", "application/json"}},
         .body = R"({"chunks": [{"_id": "late", "text": "lost if it were taken"}]})"},
        {});
    ASSERT_TRUE(refused) << refused.error().message;
    EXPECT_EQ(refused->status, 503) << refused->body;
    EXPECT_NE(refused->body.find("LOCK was removed"), std::string::npos) << refused->body;
    EXPECT_EQ(status_of(server.url() + "/v1/collections/default"), 200) << "it still reads";
    const auto ready =
        net::HttpClient(options).send({.method = "GET", .url = server.url() + "/readyz"}, {});
    ASSERT_TRUE(ready) << ready.error().message;
    EXPECT_EQ(ready->status, 503) << ready->body;
    EXPECT_TRUE(has(ready->body, "the lock or a file of the database was removed")) << ready->body;
    EXPECT_FALSE(has(ready->body, data)) << "anybody may ask";
    const auto metrics =
        net::HttpClient(options).send({.method = "GET", .url = server.url() + "/metrics"}, {});
    ASSERT_TRUE(metrics) << metrics.error().message;
    EXPECT_TRUE(has(metrics->body, "\nbraid_collections_refusing_writes 1\n")) << metrics->body;
    EXPECT_TRUE(has(metrics->body, "\nbraid_failed_writes_total 1\n")) << metrics->body;
    server.stop();

    EXPECT_EQ(run_braid({"--data", data, "add", "--text", "after"}).exit_code, 0);
    EXPECT_EQ(run_braid({"--data", data, "get", "fox", "owl"}).exit_code, 0);
    EXPECT_EQ(run_braid({"--data", data, "check"}).exit_code, 0);
}

TEST(Serve, ReplacesTheSocketOfAServerThatWasKilled) {
    const TemporaryFolder folder;
    const std::string corpus = folder.write("corpus.jsonl", kAnimals);
    std::string socket;
    {
        Served server(folder / "data");
        socket = server.socket();
        EXPECT_EQ(run_braid({"--data", folder / "data", "ingest", corpus}).exit_code, 0);
        server.stop(SIGKILL);
    }
    EXPECT_TRUE(std::filesystem::exists(socket));
    // Nobody listens there: the database is opened as ever.
    EXPECT_EQ(run_braid({"--data", folder / "data", "add", "--text", "more"}).exit_code, 0);
    const Served server(folder / "data");
    const RunResult stats = run_braid({"--data", folder / "data", "stats", "--json", "--verbose"});
    EXPECT_NE(stats.output.find("\"chunks\":4"), std::string::npos) << stats.output;
    EXPECT_NE(stats.errors.find("through the server"), std::string::npos) << stats.errors;
}

TEST(Serve, IsFoundInAFolderWhosePathIsTooLongForASocket) {
    const TemporaryFolder folder;
    const std::string parent = folder / std::string(120, 'x');
    std::filesystem::create_directories(parent);
    const std::string data = parent + "/data";
    const std::string runtime = folder / "run";
    std::filesystem::create_directory(runtime);
    RunOptions options;
    options.environment = {{"XDG_RUNTIME_DIR", runtime}};
    Served server(data, {}, options);
    EXPECT_TRUE(server.socket().starts_with(runtime)) << server.socket();
    const RunResult added =
        run_braid({"--data", data, "add", "--text", "far away", "--verbose"}, options);
    EXPECT_EQ(added.exit_code, 0) << added.errors;
    EXPECT_NE(added.errors.find("through the server"), std::string::npos) << added.errors;
    EXPECT_EQ(server.stop().exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(data + "/braid.sock.path"));
    EXPECT_EQ(served_socket(data), std::nullopt);
}

/// An agent on standard input and output of `braid mcp`.
class Agent {
public:
    explicit Agent(const Command& arguments) : program_(arguments) {}

    Value ask(const std::string& method, const std::string& params, bool modern = false) {
        const std::string meta =
            modern ? R"("_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", )"
                     R"("io.modelcontextprotocol/clientCapabilities": {}}, )"
                   : "";
        program_.write(R"({"jsonrpc": "2.0", "id": )" + std::to_string(++id_) + R"(, "method": ")" +
                       method + R"(", "params": {)" + meta + params + "}}\n");
        const auto answer = json::parse(program_.read_line().value_or("{}"));
        EXPECT_TRUE(answer) << method;
        return answer ? *answer : Value();
    }
    void tell(const std::string& method) const {
        program_.write(R"({"jsonrpc": "2.0", "method": ")" + method + "\"}\n");
    }
    std::string found(const std::string& query, bool modern) {
        return json::print(ask("tools/call",
                               R"("name": "hybrid_search", "arguments": {"query": ")" + query +
                                   R"(", "collections": ["default"]})",
                               modern));
    }
    RunResult end() { return program_.finish(); }

private:
    RunningBraid program_;
    int id_ = 0;
};

TEST(Serve, AnswersAgentsOnStandardInputWithWhatIsStoredMeanwhile) {
    const TemporaryFolder folder;
    const std::string data = folder / "data";
    Served server(data);
    const Command add{"--data", data, "add", "--embedder", "none", "--id"};
    const auto store = [&](const std::string& id, const std::string& text) {
        Command words = add;
        for (const char* word : {id.c_str(), "--text", text.c_str()}) words.emplace_back(word);
        const RunResult added = run_braid(words);
        EXPECT_EQ(added.exit_code, 0) << added.errors;
    };
    store("owl", "Owls hunt at night.");
    Agent agent({"mcp", "--data", data});
    const Value hello =
        agent.ask("initialize", R"("protocolVersion": "2025-06-18", "capabilities": {}, )"
                                R"("clientInfo": {"name": "test", "version": "1"})");
    EXPECT_TRUE(has(json::print(hello), "2025-06-18")) << json::print(hello);
    agent.tell("notifications/initialized");
    for (const bool modern : {false, true}) {
        const std::string id = modern ? "bat" : "fox";
        EXPECT_TRUE(has(agent.found("owls", modern), "Owls hunt"));
        EXPECT_FALSE(has(agent.found(id, modern), "dusk by " + id));
        store(id, "A " + id + " hunts at dusk by " + id + ".");
        EXPECT_TRUE(has(agent.found(id, modern), "dusk by " + id)) << "seen at once";
    }
    EXPECT_TRUE(has(json::print(agent.ask("nonsense", "")), "-32601"));
    const RunResult told = agent.end();
    EXPECT_EQ(told.exit_code, 0) << told.errors;
    EXPECT_TRUE(has(told.errors, "through the server")) << told.errors;

    const RunResult writing = run_braid({"mcp", "--data", data, "--allow-writes"});
    EXPECT_EQ(writing.exit_code, 5);
    EXPECT_TRUE(has(writing.errors, "--allow-writes")) << writing.errors;
    EXPECT_EQ(server.stop().exit_code, 0);
}

TEST(Serve, AgentsOnStandardInputGoOnWhenTheServerIsStartedAgain) {
    const TemporaryFolder folder;
    const std::string data = folder / "data";
    auto server = std::make_unique<Served>(data);
    ASSERT_EQ(run_braid({"--data", data, "add", "--embedder", "none", "--id", "owl", "--text",
                         "Owls hunt at night."})
                  .exit_code,
              0);
    Agent agent({"mcp", "--data", data});
    const std::string hello = R"("protocolVersion": "2025-06-18", "capabilities": {}, )"
                              R"("clientInfo": {"name": "test", "version": "1"})";
    agent.ask("initialize", hello);
    agent.tell("notifications/initialized");
    EXPECT_TRUE(has(agent.found("owls", false), "Owls hunt"));
    EXPECT_EQ(server->stop().exit_code, 0);
    EXPECT_TRUE(has(agent.found("owls", false), "the server does not answer"));
    server = std::make_unique<Served>(data);
    for (int i = 0; i < 2; ++i) {
        const std::string found = agent.found("owls", false);
        EXPECT_TRUE(has(found, "Owls hunt")) << found;
    }
    EXPECT_EQ(agent.end().exit_code, 0);
    EXPECT_EQ(server->stop().exit_code, 0);
}

TEST(Serve, LetsAgentsOnStandardInputWriteIfItLetsAgentsWrite) {
    const TemporaryFolder folder;
    const std::string data = folder / "data";
    Served server(data, {"--allow-writes"});
    Agent agent({"mcp", "--data", data, "--allow-writes"});
    const Value stored = agent.ask(
        "tools/call", R"("name": "remember", "arguments": {"text": "Hens lay eggs."})", true);
    EXPECT_FALSE(has(json::print(stored), "\"isError\":true")) << json::print(stored);
    EXPECT_EQ(agent.end().exit_code, 0);
    EXPECT_EQ(server.stop().exit_code, 0);
}

TEST(Serve, RefusesStrangersWithoutKeys) {
    const TemporaryFolder folder;
    const RunResult open =
        run_braid({"--data", folder / "data", "serve", "--host", "0.0.0.0", "--port", "0"});
    EXPECT_NE(open.exit_code, 0);
    EXPECT_NE(open.errors.find("key"), std::string::npos) << open.errors;
    EXPECT_FALSE(std::filesystem::exists(folder / "data"));
    const RunResult broken = run_braid({"--data", folder / "data", "serve", "--port", "0",
                                        "--key-file", folder.write("keys.json", "{\"keys\": 1}")});
    EXPECT_EQ(broken.exit_code, 2) << broken.errors;
    EXPECT_NE(broken.errors.find("keys.json"), std::string::npos) << broken.errors;
}

}  // namespace
}  // namespace braid::cli
