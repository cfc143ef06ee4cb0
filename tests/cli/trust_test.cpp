// What a .env may say, where keys go, and which sockets are believed.

#include "braid/cli/config/trust.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "braid/cli/config/settings.hpp"
#include "braid/cli/config/socket_place.hpp"
#include "braid/json/json.hpp"
#include "braid/net/http/server.hpp"
#include "cli/program_run.hpp"
#include "cli/served.hpp"
#include "core/temporary_folder.hpp"

namespace braid::cli {
namespace {

using braid::testing::has;
using braid::testing::kAnimals;
using braid::testing::run_braid;
using braid::testing::RunOptions;
using braid::testing::RunResult;
using braid::testing::Served;
using braid::testing::TemporaryFolder;

/// An endpoint that remembers the keys it was sent, and gives vectors of two numbers.
class ListeningEndpoint final : public net::HttpHandler {
public:
    ListeningEndpoint() {
        auto started = net::HttpServer::start({.workers = 2}, *this);
        EXPECT_TRUE(started);
        if (started) server_ = std::make_unique<net::HttpServer>(*std::move(started));
    }
    std::string url() const {
        return "http://127.0.0.1:" + std::to_string(server_ ? server_->port() : 0) + "/v1";
    }
    std::vector<std::string> keys() {
        const std::scoped_lock lock(mutex_);
        return std::exchange(keys_, {});
    }

    std::optional<net::OutgoingResponse> admit(net::IncomingRequest& head,
                                               std::size_t& /*limit*/) override {
        const std::scoped_lock lock(mutex_);
        keys_.emplace_back(head.header("Authorization").value_or("none"));
        return std::nullopt;
    }
    net::OutgoingResponse handle(const net::IncomingRequest& request) override {
        const auto json = json::parse(request.body);
        const Value* const input = json ? json->find("input") : nullptr;
        const std::size_t count =
            input != nullptr && input->is_array() ? input->as_array().size() : 1;
        std::string rows;
        for (std::size_t i = 0; i < count; ++i) {
            rows += std::string(i == 0 ? "" : ",") + R"({"index": )" + std::to_string(i) +
                    R"(, "embedding": [1, 0.5]})";
        }
        net::OutgoingResponse response;
        response.status = 200;
        response.headers = {{"Content-Type", "application/json"}};
        response.body = R"({"data": [)" + rows + R"(], "model": "m"})";
        return response;
    }
    net::OutgoingResponse refuse(int status, std::string_view /*reason*/) override {
        net::OutgoingResponse response;
        response.status = status;
        return response;
    }

private:
    std::mutex mutex_;
    std::vector<std::string> keys_;
    std::unique_ptr<net::HttpServer> server_;
};

class TrustTest : public ::testing::Test {
protected:
    TrustTest() {
        folder.write("corpus.jsonl", kAnimals);
        std::filesystem::create_directories(folder / "config/braid");
    }
    /// In the folder, with a configuration of its own.
    RunResult run(const std::vector<std::string>& arguments,
                  const std::vector<std::pair<std::string, std::string>>& environment = {}) const {
        RunOptions options;
        options.folder = folder.path().string();
        options.environment = environment;
        options.environment.emplace_back("XDG_CONFIG_HOME", folder / "config");
        // Tests run without an embedder unless they say so: here .env says it.
        options.environment.emplace_back("BRAID_EMBEDDER", "");
        return run_braid(arguments, options);
    }
    RunResult ingest(const std::string& collection,
                     const std::vector<std::pair<std::string, std::string>>& environment) const {
        return run({"ingest", "corpus.jsonl", "--collection", collection, "--embedder", "openai"},
                   environment);
    }

    TemporaryFolder folder;
    ListeningEndpoint endpoint;
};

TEST_F(TrustTest, NothingGoesToAnAddressThatAnUntrustedDirectoryNames) {
    folder.write(".env", "BRAID_OPENAI_BASE_URL=" + endpoint.url() + "\nBRAID_LLM_BASE_URL=" +
                             endpoint.url() + "\nBRAID_LLM_MODEL=m\nBRAID_EMBEDDER=openai\n");
    // BRAID_OFFLINE: what is not ignored must not reach the real address either.
    const std::vector<std::pair<std::string, std::string>> environment{
        {"OPENAI_API_KEY", "sk-secret"}, {"BRAID_OFFLINE", "true"}};
    const RunResult ingested = ingest("a", environment);
    EXPECT_NE(ingested.exit_code, 0);
    EXPECT_TRUE(has(ingested.errors, "BRAID_OPENAI_BASE_URL")) << ingested.errors;
    EXPECT_TRUE(has(ingested.errors, "braid help config trust")) << ingested.errors;
    EXPECT_EQ(run({"add", "--text", "a fox"},
                  {{"OPENAI_API_KEY", "sk-secret"}, {"BRAID_EMBEDDER", "none"}})
                  .exit_code,
              0);
    EXPECT_EQ(
        run({"retrieve", "fox", "--expand-query", "--use-hyde"}, {{"OPENAI_API_KEY", "sk-secret"}})
            .exit_code,
        0);
    EXPECT_TRUE(endpoint.keys().empty());
    const RunResult doctor = run({"doctor"}, environment);
    EXPECT_EQ(doctor.exit_code, 1);
    EXPECT_TRUE(has(doctor.output, "BRAID_LLM_MODEL")) << doctor.output;
    EXPECT_TRUE(has(doctor.output, "https://api.openai.com/v1, by default")) << doctor.output;
}

TEST_F(TrustTest, AKeyGoesOnlyToTheAddressItWasConfiguredWith) {
    folder.write(".env", "BRAID_OPENAI_BASE_URL=" + endpoint.url() + "\n");
    EXPECT_EQ(run({"config", "trust"}).exit_code, 0);
    const RunResult general = ingest("a", {{"OPENAI_API_KEY", "sk-secret"}});
    EXPECT_EQ(general.exit_code, 0) << general.errors;
    std::vector<std::string> sent = endpoint.keys();
    EXPECT_FALSE(sent.empty());
    for (const std::string& key : sent) EXPECT_EQ(key, "none");

    EXPECT_EQ(ingest("b", {{"BRAID_OPENAI_API_KEY", "sk-own"}}).exit_code, 0);
    sent = endpoint.keys();
    EXPECT_FALSE(sent.empty());
    for (const std::string& key : sent) EXPECT_EQ(key, "Bearer sk-own");

    // Of config.json, for config.json's address: not for one that stands above it.
    folder.write("config/braid/config.json", R"({"openai": {"apiKey": "sk-config"}})");
    EXPECT_EQ(ingest("c", {}).exit_code, 0);
    sent = endpoint.keys();
    EXPECT_FALSE(sent.empty());
    for (const std::string& key : sent) EXPECT_EQ(key, "none");
    EXPECT_TRUE(has(run({"doctor"}).output, "openai.apiKey")) << run({"doctor"}).output;

    folder.write(".env", "");
    folder.write("config/braid/config.json",
                 R"({"openai": {"apiKey": "sk-config", "baseUrl": ")" + endpoint.url() + "\"}}");
    EXPECT_EQ(ingest("d", {{"OPENAI_API_KEY", "sk-secret"}}).exit_code, 0);
    sent = endpoint.keys();
    EXPECT_FALSE(sent.empty());
    for (const std::string& key : sent) EXPECT_EQ(key, "Bearer sk-config");
}

TEST_F(TrustTest, TrustIsGivenAndTakenBack) {
    folder.write(".env", "BRAID_DURABILITY=relaxed\nBRAID_DATA=/elsewhere\n");
    const auto durability = [&] {
        return has(run({"config", "show", "--origin"}).output, "relaxed");
    };
    EXPECT_FALSE(durability());
    EXPECT_EQ(run({"config", "trust", "--json"}).exit_code, 0);
    EXPECT_TRUE(durability());
    EXPECT_TRUE(has(run({"config", "show", "--origin"}).output, ".env of a trusted directory"));
    EXPECT_TRUE(has(run({"config", "trust", "--list"}).output,
                    std::filesystem::canonical(folder.path()).string()));
    struct stat found {};
    ASSERT_EQ(::stat((folder / "config/braid/trusted.json").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
    // A list, or a .env, that others can write proves nothing.
    ASSERT_EQ(::chmod((folder / "config/braid/trusted.json").c_str(), 0666), 0);
    EXPECT_FALSE(durability());
    ASSERT_EQ(::chmod((folder / "config/braid/trusted.json").c_str(), 0600), 0);
    ASSERT_EQ(::chmod((folder / ".env").c_str(), 0666), 0);
    EXPECT_FALSE(durability());
    ASSERT_EQ(::chmod((folder / ".env").c_str(), 0644), 0);
    EXPECT_TRUE(durability());
    EXPECT_EQ(run({"config", "trust", ".", "--remove"}).exit_code, 0);
    EXPECT_FALSE(durability());
    EXPECT_EQ(run({"config", "trust", "nowhere"}).exit_code, 3);
}

TEST(Trust, EveryVariableIsHarmlessOrNeedsTrust) {
    // By hand, so that a new variable is thought about.
    const std::vector<std::string_view> harmless{"BRAID_CPU",
                                                 "BRAID_DATA",
                                                 "BRAID_EMBEDDER",
                                                 "BRAID_OFFLINE",
                                                 "BRAID_PROFILE",
                                                 "BRAID_TOKEN_LIMIT",
                                                 "MAX_HYBRID_SEARCH_RESULTS",
                                                 "OVERFETCH_MULTIPLIER",
                                                 "RETRIEVAL_BM25_WEIGHT",
                                                 "RETRIEVAL_TOP_K",
                                                 "RETRIEVAL_VECTOR_WEIGHT",
                                                 "RRF_CONSTANT"};
    const std::vector<std::string_view> trusted{"BRAID_ANSWER_MB",
                                                "BRAID_DURABILITY",
                                                "BRAID_HOST",
                                                "BRAID_KEY_FILE",
                                                "BRAID_LLM_API_KEY",
                                                "BRAID_BACKEND",
                                                "BRAID_CACHE",
                                                "BRAID_CLUSTER_URL",
                                                "BRAID_CLUSTER_KEY",
                                                "BRAID_CLUSTER_CA_FILE",
                                                "BRAID_CLUSTER_PREFIX",
                                                "BRAID_CLUSTER_SHARDS",
                                                "BRAID_CLUSTER_REPLICAS",
                                                "BRAID_LLM_BASE_URL",
                                                "BRAID_LLM_MODEL",
                                                "BRAID_LLM_TIMEOUT_MS",
                                                "BRAID_LIGHTGBM",
                                                "BRAID_MEMORY_MB",
                                                "BRAID_METRICS_PORT",
                                                "BRAID_MODELS",
                                                "BRAID_OPENAI_API_KEY",
                                                "BRAID_OPENAI_BASE_URL",
                                                "BRAID_OPENAI_DIMENSIONS",
                                                "BRAID_OPENAI_EMBEDDING_MODEL",
                                                "BRAID_PORT",
                                                "BRAID_RERANKER_MODEL",
                                                "BRAID_RERANKER_TOKENIZER",
                                                "BRAID_RERANKER_TOKEN_LIMIT",
                                                "BRAID_TLS_CERT",
                                                "BRAID_TLS_KEY",
                                                "BRAID_WRITE_MEMORY_MB"};
    for (const SettingSpec& spec : setting_specs()) {
        const auto& list = spec.harmless != nullptr ? harmless : trusted;
        EXPECT_NE(std::ranges::find(list, spec.variable), list.end()) << spec.variable;
    }
    const auto may = [](std::string_view variable, std::string_view value) {
        const auto specs = setting_specs();
        return std::ranges::find(specs, variable, &SettingSpec::variable)->harmless(value);
    };
    EXPECT_TRUE(may("BRAID_DATA", "./braid-data"));
    EXPECT_TRUE(may("BRAID_DATA", "a/../b"));
    for (const std::string_view path : {"/tmp/x", "..", "a/../../b", "../b"}) {
        EXPECT_FALSE(may("BRAID_DATA", path)) << path;
    }
    EXPECT_TRUE(may("BRAID_EMBEDDER", "minilm"));
    EXPECT_FALSE(may("BRAID_EMBEDDER", "openai"));
    EXPECT_TRUE(may("BRAID_OFFLINE", "true"));
    EXPECT_FALSE(may("BRAID_OFFLINE", "false"));
}

TEST(SocketPlace, IsPassedByIfOthersCouldAnswerThere) {
    const TemporaryFolder folder;
    const std::string data = folder / "data";
    const Served server(data, {"--log", "none"});
    EXPECT_EQ(served_socket(data), server.socket());
    EXPECT_EQ(distrusted_socket(data), "");
    ASSERT_EQ(::chmod(server.socket().c_str(), 0666), 0);
    EXPECT_EQ(served_socket(data), std::nullopt);
    EXPECT_TRUE(has(distrusted_socket(data), "is open to other users"));
    const RunResult asked = run_braid({"--data", data, "collections", "--verbose"});
    EXPECT_EQ(asked.exit_code, 0) << asked.errors;
    EXPECT_TRUE(has(asked.errors, "so it is not used")) << asked.errors;
    EXPECT_FALSE(has(asked.errors, "through the server")) << asked.errors;
    EXPECT_EQ(run_braid({"--data", data, "doctor"}).exit_code, 1);
    ASSERT_EQ(::chmod(server.socket().c_str(), 0600), 0);
    EXPECT_EQ(served_socket(data), server.socket());
}

TEST(SocketPlace, TheFileThatNamesItMustBeTheUsersAlone) {
    const TemporaryFolder folder;
    const std::string parent = folder / std::string(120, 'x');
    std::filesystem::create_directories(parent);
    std::filesystem::create_directory(folder / "run");
    const std::string data = parent + "/data";
    RunOptions options;
    options.environment = {{"XDG_RUNTIME_DIR", folder / "run"}};
    const Served server(data, {"--log", "none"}, options);
    const std::string record = data + "/braid.sock.path";
    struct stat found {};
    ASSERT_EQ(::stat(record.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
    EXPECT_EQ(served_socket(data), server.socket());
    ASSERT_EQ(::chmod(record.c_str(), 0622), 0);
    EXPECT_EQ(served_socket(data), std::nullopt);
    EXPECT_TRUE(has(distrusted_socket(data), "braid.sock.path is open to other users"));
    ASSERT_EQ(::chmod(record.c_str(), 0600), 0);
    EXPECT_EQ(served_socket(data), server.socket());
}

}  // namespace
}  // namespace braid::cli
