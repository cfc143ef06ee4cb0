#include "braid/remote/cluster_client.hpp"

#include <atomic>

#include <gtest/gtest.h>

#include "net/http_test_server.hpp"
#include "net/test_answers.hpp"

namespace braid::remote {
namespace {

using net::HttpTestServer;
using net::ReceivedRequest;
using net::replying;
using net::TestConnection;

std::unique_ptr<ClusterClient> client_of(std::vector<std::string> urls, std::string key = "") {
    RemoteOptions options;
    options.urls = std::move(urls);
    options.key = std::move(key);
    options.max_attempts = 4;
    auto client = ClusterClient::create(options);
    EXPECT_TRUE(client.has_value());
    return client ? *std::move(client) : nullptr;
}

/// Nobody listens there.
std::string dead_url() {
    const HttpTestServer gone(replying(""));
    return gone.url();
}

TEST(ClusterClient, RefusesAddressesThatCannotWork) {
    for (const auto& urls : std::vector<std::vector<std::string>>{
             {}, {"ftp://x"}, {"http://user:hunter2@x"}, {"nonsense url"}}) {
        RemoteOptions options;
        options.urls = urls;
        const auto client = ClusterClient::create(options);
        ASSERT_FALSE(client.has_value());
        EXPECT_EQ(client.error().code, ErrorCode::InvalidArgument);
        EXPECT_EQ(client.error().message.find("hunter2"), std::string::npos);
    }
}

TEST(ClusterClient, GoesOnWithTheNextNodeAtOnce) {
    const HttpTestServer alive(replying(R"({"ok":true})"));
    const auto client = client_of({dead_url(), alive.url(), dead_url()});
    CallLimits limits;
    limits.interactive = true;
    for (int i = 0; i < 6; ++i) {
        const auto answer = client->ask("GET", "/x", "", limits);
        ASSERT_TRUE(answer.has_value()) << answer.error().message;
    }
    EXPECT_EQ(alive.requests().size(), 6U);
}

TEST(ClusterClient, SaysThatNoNodeAnswers) {
    const auto client = client_of({dead_url(), dead_url()});
    CallLimits limits;
    limits.interactive = true;
    const auto answer = client->ask("GET", "/x", "", limits);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, ErrorCode::Unavailable);
    EXPECT_NE(answer.error().message.find("no node"), std::string::npos) << answer.error().message;
}

TEST(ClusterClient, TriesAFullQueueAgain) {
    std::atomic<int> asked{0};
    const HttpTestServer busy([&](const ReceivedRequest&, TestConnection& connection) {
        if (++asked < 3) {
            connection.reply(429, R"({"error":{"type":"rejected_execution_exception"}})");
        } else {
            connection.reply(200, R"({"ok":true})");
        }
        return true;
    });
    EXPECT_TRUE(client_of({busy.url()})->ask("POST", "/_bulk", "{}", {}).has_value());
    EXPECT_EQ(asked, 3);
    const HttpTestServer full(replying(R"({"error":{"reason":"queue"}})", 429));
    const auto refused = client_of({full.url()})->ask("POST", "/_bulk", "{}", {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::Unavailable);
    EXPECT_NE(refused.error().message.find("queue is full"), std::string::npos);
    EXPECT_EQ(full.requests().size(), 4U);
}

TEST(ClusterClient, ASlowNodeCostsTheDeadlineAndNoMore) {
    const HttpTestServer slow(net::silent());
    CallLimits limits;
    limits.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    const auto answer = client_of({slow.url()})->ask("GET", "/x", "", limits);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, ErrorCode::DeadlineExceeded);
}

TEST(ClusterClient, NamesWhatTheClusterSays) {
    const auto error = [](int status, const std::string& body) {
        const HttpTestServer server(replying(body, status));
        const auto answer = client_of({server.url()})->ask("GET", "/x?secret=1", "", {});
        EXPECT_FALSE(answer.has_value());
        return answer ? Error{} : answer.error();
    };
    const Error bad = error(
        400,
        R"({"error":{"type":"t","reason":"outer","caused_by":{"type":"deep","reason":"why"}}})");
    EXPECT_EQ(bad.code, ErrorCode::InvalidArgument);
    EXPECT_NE(bad.message.find("deep: why"), std::string::npos) << bad.message;
    EXPECT_EQ(bad.message.find("secret"), std::string::npos) << bad.message;
    EXPECT_EQ(error(401, "go away").code, ErrorCode::PermissionDenied);
    EXPECT_EQ(error(403, "{}").code, ErrorCode::PermissionDenied);
    EXPECT_EQ(error(404, "{}").code, ErrorCode::NotFound);
    EXPECT_EQ(error(409, "{}").code, ErrorCode::Conflict);
    EXPECT_EQ(error(200, "<html>a proxy</html>").code, ErrorCode::Unavailable);
}

TEST(ClusterClient, SendsKeysAsHeaders) {
    const HttpTestServer server(replying("{}"));
    ASSERT_TRUE(client_of({server.url()}, "user:secret")->ask("GET", "/", "", {}).has_value());
    ASSERT_TRUE(client_of({server.url()}, "token")->ask("GET", "/", "", {}).has_value());
    const auto requests = server.requests();
    EXPECT_EQ(requests.at(0).headers.at("authorization"), "Basic dXNlcjpzZWNyZXQ=");
    EXPECT_EQ(requests.at(1).headers.at("authorization"), "Bearer token");
    RemoteOptions options;
    options.urls = {server.url()};
    options.key = "a\r\nb: c";
    EXPECT_FALSE(ClusterClient::create(options).has_value());
}

}  // namespace
}  // namespace braid::remote
