// A server whose files may not grow, which is what a full disk is to it; then they may again.

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "braid/json/json.hpp"
#include "braid/net/client/http_client.hpp"
#include "cli/program_run.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::RunningBraid;
using braid::testing::TemporaryFolder;

/// Limits what is started while it lives.
class SmallFiles {
public:
    explicit SmallFiles(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~SmallFiles() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    SmallFiles(const SmallFiles&) = delete;
    SmallFiles& operator=(const SmallFiles&) = delete;
    SmallFiles(SmallFiles&&) = delete;
    SmallFiles& operator=(SmallFiles&&) = delete;
    const rlimit& before() const { return before_; }

private:
    rlimit before_{};
};

net::HttpResponse ask_server(const std::string& method, const std::string& url,
                             const std::string& body = {}) {
    net::HttpClientOptions options;
    options.allow_private = true;
    net::HttpRequest request;
    request.method = method;
    request.url = url;
    if (!body.empty()) request.headers = {{"Content-Type", "application/json"}};
    request.body = body;
    auto response = net::HttpClient(options).send(request, {});
    EXPECT_TRUE(response) << response.error().message;
    return response ? *std::move(response) : net::HttpResponse{};
}

std::string code_of(const net::HttpResponse& response) {
    const auto body = json::parse(response.body);
    const Value* const code = body ? body->find("code") : nullptr;
    return code != nullptr && code->is_string() ? code->as_string() : response.body;
}

TEST(FullDiskServed, IsSaidAtEveryDoorAndEndsWhenThereIsSpace) {
    const TemporaryFolder folder;
    rlimit unlimited{};
    std::unique_ptr<RunningBraid> program;
    {
        const SmallFiles small(16'384);
        unlimited = small.before();
        program = std::make_unique<RunningBraid>(
            std::vector<std::string>{"--data", folder / "data", "serve", "--port", "0", "--json"});
    }
    const auto line = program->read_line();
    ASSERT_TRUE(line.has_value());
    const Value facts = *json::parse(*line);
    const std::string url = facts.find("listening")->as_string();
    const auto process = static_cast<pid_t>(facts.find("process")->as_int());
    const std::string chunks = url + "/v1/collections/notes/chunks";
    const std::string small = R"({"chunks": [{"_id": "a", "text": "a fox"}]})";
    const std::string large =
        R"({"chunks": [{"_id": "b", "text": ")" + std::string(50'000, 'x') + "\"}]}";
    EXPECT_EQ(ask_server("POST", chunks, small).status, 200);
    EXPECT_EQ(ask_server("GET", url + "/readyz").status, 200);

    const auto refused = ask_server("POST", chunks, large);
    EXPECT_EQ(refused.status, 507) << refused.body;
    EXPECT_EQ(code_of(refused), "storage_full");
    const auto rpc = ask_server("POST", url + "/rpc",
                                R"({"jsonrpc": "2.0", "id": 1, "method": "braid.add", "params":
            {"collection": "notes", "chunks": [{"_id": "b", "text": ")" +
                                    std::string(50'000, 'x') + R"("}]}})");
    EXPECT_TRUE(has(rpc.body, "-32014")) << rpc.body;
    const auto ready = ask_server("GET", url + "/readyz");
    EXPECT_EQ(ready.status, 503);
    EXPECT_EQ(code_of(ready), "writes_refused");
    EXPECT_TRUE(has(ready.body, "no space")) << ready.body;
    EXPECT_FALSE(has(ready.body, "notes")) << "anybody may ask";
    const auto metrics = ask_server("GET", url + "/metrics");
    EXPECT_TRUE(has(metrics.body, "\nbraid_collections_refusing_writes 1\n")) << metrics.body;
    EXPECT_TRUE(has(metrics.body, "\nbraid_failed_writes_total 2\n")) << metrics.body;
    const auto found =
        ask_server("POST", url + "/v1/retrieve", R"({"query": "fox", "collection": "notes"})");
    EXPECT_EQ(found.status, 200) << "searches go on";

    ASSERT_EQ(::prlimit(process, RLIMIT_FSIZE, &unlimited, nullptr), 0);
    EXPECT_EQ(ask_server("GET", url + "/readyz").status, 200);
    EXPECT_EQ(ask_server("POST", chunks, large).status, 200);
    program->signal(SIGTERM);
    const auto ended = program->finish();
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_TRUE(has(ended.errors, "collection \\\"notes\\\" refuses writes")) << ended.errors;
    EXPECT_TRUE(has(ended.errors, "EFBIG")) << ended.errors;
    EXPECT_TRUE(has(ended.errors, "accepts writes again")) << ended.errors;
}

}  // namespace
}  // namespace braid::cli
