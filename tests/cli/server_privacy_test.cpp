// What `braid serve` and its files keep to themselves.

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "braid/json/json.hpp"
#include "braid/net/client/http_client.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

namespace fs = std::filesystem;
using braid::testing::has;
using braid::testing::kAnimals;
using braid::testing::run_braid;
using braid::testing::RunningBraid;
using braid::testing::RunOptions;
using braid::testing::TemporaryFolder;

/// While it lives, files are made for everybody, unless somebody takes care.
class OpenUmask {
public:
    OpenUmask() : before_(::umask(0)) {}
    ~OpenUmask() { ::umask(before_); }
    OpenUmask(const OpenUmask&) = delete;
    OpenUmask& operator=(const OpenUmask&) = delete;

private:
    mode_t before_;
};

unsigned mode_of(const fs::path& path) {
    struct stat found {};
    EXPECT_EQ(::lstat(path.c_str(), &found), 0) << path;
    return found.st_mode & 07777U;
}

std::string body_of(const std::string& url, const std::string& body = "") {
    net::HttpClientOptions options;
    options.allow_private = true;
    net::HttpRequest request{.url = url};
    if (!body.empty()) {
        request.method = "POST";
        request.body = body;
        request.headers = {{"Content-Type", "application/json"}};
    }
    const auto response = net::HttpClient(options).send(request, {});
    EXPECT_TRUE(response) << response.error().message;
    return response ? std::to_string(response->status) + " " + response->body : "";
}

TEST(ServerPrivacy, FilesAreForTheirOwnerAlone) {
    const OpenUmask umask;
    const TemporaryFolder folder;
    const std::string data = folder / "data";
    ASSERT_EQ(run_braid({"--data", data, "ingest", "-", "--embedder", "none"}, {.input = kAnimals})
                  .exit_code,
              0);
    ASSERT_EQ(run_braid({"--data", data, "compact"}).exit_code, 0);
    ASSERT_EQ(run_braid({"--data", data, "backup", folder / "copy"}).exit_code, 0);
    const std::string keys = folder / "keys.json";
    ASSERT_EQ(run_braid({"keys", "add", "agent", "--file", keys}).exit_code, 0);
    RunningBraid server(
        {"--data", data, "serve", "--port", "0", "--json", "--audit", folder / "audit.jsonl"});
    ASSERT_TRUE(server.read_line().has_value());
    std::size_t files = 0;
    std::size_t sockets = 0;
    for (const char* const root : {"data", "copy"}) {
        EXPECT_EQ(mode_of(folder.path() / root), 0700U) << root;
        for (const auto& entry : fs::recursive_directory_iterator(folder.path() / root)) {
            EXPECT_EQ(mode_of(entry.path()), entry.is_directory() ? 0700U : 0600U) << entry.path();
            files += entry.is_regular_file() ? 1 : 0;
            sockets += entry.is_socket() ? 1 : 0;
        }
    }
    EXPECT_GE(files, 5U);
    EXPECT_EQ(sockets, 1U);
    EXPECT_EQ(mode_of(keys), 0600U);
    EXPECT_EQ(mode_of(folder.path() / "audit.jsonl"), 0600U);
    server.signal(SIGTERM);
    EXPECT_EQ(server.finish().exit_code, 0);
}

TEST(ServerPrivacy, ErrorsNameNoFolderToRemoteCallers) {
    const TemporaryFolder folder;
    const std::string data = folder / "some where/data";
    fs::create_directories(folder.path() / "some where");
    for (const std::string name : {"good", "bad"}) {
        ASSERT_EQ(
            run_braid({"--data", data, "ingest", "-", "--embedder", "none", "--collection", name},
                      {.input = kAnimals})
                .exit_code,
            0);
    }
    for (const auto& entry : fs::recursive_directory_iterator(data)) {
        if (entry.path().parent_path().filename() == "bad" &&
            entry.path().filename().string().starts_with("manifest")) {
            folder.write(fs::relative(entry.path(), folder.path()).string(), "no manifest");
        }
    }
    folder.write("some where/data/collections/blocked", "a file where a collection would be");
    RunningBraid server({"--data", data, "serve", "--port", "0", "--json", "--log", "json"});
    const auto facts = json::parse(server.read_line().value_or("{}"));
    ASSERT_TRUE(facts && facts->find("listening") != nullptr);
    const std::string url = facts->find("listening")->as_string();
    const auto rpc = [](const std::string& method, const std::string& params) {
        return R"({"jsonrpc": "2.0", "id": 1, "method": "braid.)" + method + R"(", "params": )" +
               params + "}";
    };
    const std::string bad = R"({"query": "mice", "collection": "bad"})";
    const std::string both = R"({"query": "mice", "collections": ["good", "bad"]})";
    std::vector<std::string> answers{
        body_of(url + "/v1/collections"),
        body_of(url + "/v1/collections/bad"),
        body_of(url + "/v1/retrieve", bad),
        body_of(url + "/v1/retrieve", both),
        body_of(url + "/v1/retrieve_batch", R"({"requests": [)" + bad + "]}"),
        body_of(url + "/v1/context", both),
        body_of(url + "/v1/collections", R"({"name": "blocked"})"),
        body_of(url + "/v1/collections/bad/chunks", R"({"chunks": [{"_id": "a", "text": "x"}]})"),
        body_of(url + "/rpc", rpc("retrieve", bad)),
        body_of(url + "/rpc", rpc("retrieve", both)),
        body_of(url + "/rpc", rpc("create_collection", R"({"name": "blocked"})")),
        body_of(url + "/v1/check", "{}"),
        body_of(url + "/rpc", rpc("check", "{}")),
    };
    for (const std::string& answer : answers) {
        EXPECT_FALSE(has(answer, folder.path().filename().string())) << answer;
        EXPECT_FALSE(has(answer, "some where")) << answer;
    }
    EXPECT_TRUE(has(answers[2], "500 ")) << answers[2];
    EXPECT_TRUE(has(answers[3], "cannot be read")) << answers[3];
    EXPECT_TRUE(has(answers[11], "200 ")) << answers[11];
    EXPECT_TRUE(has(answers[11], "collection \\\"bad\\\": manifest is damaged")) << answers[11];
    EXPECT_TRUE(has(answers[12], "\"problems\":[\"")) << answers[12];
    server.signal(SIGTERM);
    const auto ended = server.finish();
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_TRUE(has(ended.errors, "\"error\":")) << ended.errors;
    EXPECT_TRUE(has(ended.errors, data)) << "the log has the whole path";
}

}  // namespace
}  // namespace braid::cli
