#include "braid/net/client/http_client.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "net/http_test_server.hpp"
#include "net/test_answers.hpp"

namespace braid::net {
namespace {

using std::chrono::milliseconds;

HttpClientOptions local_options() {
    HttpClientOptions options;
    options.allow_private = true;
    options.total_timeout = milliseconds(20'000);
    return options;
}

CallLimits deadline_in(milliseconds time) {
    return {.deadline = std::chrono::steady_clock::now() + time, .stop = {}};
}

TEST(HttpClient, SendsMethodHeadersAndBodyAndReturnsTheAnswer) {
    const HttpTestServer server([](const ReceivedRequest& request, TestConnection& connection) {
        connection.reply(201, "got " + request.body, "X-Kind: test\r\nx-empty:\r\n");
        return true;
    });
    const HttpClient client(local_options());
    const auto response = client.send({.method = "POST",
                                       .url = server.url("/a/b?c=d"),
                                       .headers = {{"X-One", "1"}, {"X-None", ""}},
                                       .body = std::string("zero\0byte", 9)},
                                      {});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->body, std::string("got zero\0byte", 13));
    EXPECT_EQ(response->header("x-kind"), "test");
    EXPECT_EQ(response->header("X-Empty"), "");
    EXPECT_FALSE(response->header("x-other"));

    const auto received = server.requests();
    ASSERT_EQ(received.size(), 1U);
    EXPECT_EQ(received[0].method, "POST");
    EXPECT_EQ(received[0].target, "/a/b?c=d");
    EXPECT_EQ(received[0].headers.at("x-one"), "1");
    EXPECT_EQ(received[0].headers.at("x-none"), "");
    EXPECT_EQ(received[0].headers.count("expect"), 0U);
}

TEST(HttpClient, KeepsConnectionsOpenBetweenRequests) {
    const HttpTestServer server([](const ReceivedRequest&, TestConnection& connection) {
        connection.reply(200, "ok");
        return true;
    });
    const HttpClient client(local_options());
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(client.send({.url = server.url()}, {}));
    EXPECT_EQ(server.connection_count(), 1);
}

TEST(HttpClient, ReportsErrorStatusesAsAnswers) {
    const HttpTestServer server([](const ReceivedRequest&, TestConnection& connection) {
        connection.reply(503, "later");
        return true;
    });
    const auto response = HttpClient(local_options()).send({.url = server.url()}, {});
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 503);
    EXPECT_EQ(response->body, "later");
}

TEST(HttpClient, GivesUpAfterItsTimeout) {
    const HttpTestServer server(silent());
    HttpClientOptions options = local_options();
    options.total_timeout = milliseconds(100);
    const auto response = HttpClient(options).send({.url = server.url()}, {});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::Unavailable);
}

TEST(HttpClient, GivesUpAtTheDeadline) {
    const HttpTestServer server(silent());
    const auto response =
        HttpClient(local_options()).send({.url = server.url()}, deadline_in(milliseconds(100)));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::DeadlineExceeded);
}

TEST(HttpClient, StopsWhenCancelled) {
    std::stop_source source;
    const HttpTestServer server(stopping(source));
    const auto response =
        HttpClient(local_options())
            .send({.url = server.url()}, {.deadline = {}, .stop = source.get_token()});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::Cancelled);
}

TEST(HttpClient, RefusesABodyPastTheLimitWithoutReadingItAll) {
    const HttpTestServer server([](const ReceivedRequest&, TestConnection& connection) {
        connection.send_raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        const std::string chunk = "10000\r\n" + std::string(65536, 'x') + "\r\n";
        for (int i = 0; i < 10'000 && !connection.stopped(); ++i) connection.send_raw(chunk);
        return false;
    });
    HttpClientOptions options = local_options();
    options.max_response_bytes = 1U << 20U;
    const auto response = HttpClient(options).send({.url = server.url()}, {});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::ResourceExhausted);
}

TEST(HttpClient, RefusesEndlessHeaders) {
    const HttpTestServer server([](const ReceivedRequest&, TestConnection& connection) {
        connection.send_raw("HTTP/1.1 200 OK\r\n");
        for (int i = 0; i < 100'000 && !connection.stopped(); ++i) {
            connection.send_raw("X-H" + std::to_string(i) + ": " + std::string(100, 'h') + "\r\n");
        }
        return false;
    });
    const auto response = HttpClient(local_options()).send({.url = server.url()}, {});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::ResourceExhausted);
}

TEST(HttpClient, ReportsABrokenOffAnswerAsUnavailable) {
    const HttpTestServer server([](const ReceivedRequest& request, TestConnection& connection) {
        if (request.target == "/body") {
            connection.send_raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        } else if (request.target == "/head") {
            connection.send_raw("HTTP/1.1 200 OK\r\nContent-Le");
        } else if (request.target == "/garbage") {
            connection.send_raw("this is not HTTP at all\r\n\r\n");
        }
        return false;
    });
    const HttpClient client(local_options());
    for (const std::string path : {"/body", "/head", "/nothing", "/garbage"}) {
        SCOPED_TRACE(path);
        const auto response = client.send({.url = server.url(path)}, {});
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().code, ErrorCode::Unavailable);
    }
}

TEST(HttpClient, ReportsAClosedPortAsUnavailable) {
    std::string url;
    {
        const HttpTestServer server([](const ReceivedRequest&, TestConnection&) { return false; });
        url = server.url();
    }
    const auto response = HttpClient(local_options()).send({.url = url}, {});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::Unavailable);
}

TEST(HttpClient, OpensNoSocketWhenOffline) {
    const HttpTestServer server([](const ReceivedRequest&, TestConnection& connection) {
        connection.reply(200, "");
        return true;
    });
    HttpClientOptions options = local_options();
    options.offline = true;
    const auto response = HttpClient(options).send({.url = server.url()}, {});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::PermissionDenied);
    EXPECT_EQ(server.connection_count(), 0);
}

TEST(HttpClient, RefusesPrivateAddressesUnlessAllowed) {
    const HttpTestServer server([](const ReceivedRequest&, TestConnection& connection) {
        connection.reply(200, "");
        return true;
    });
    const HttpClient client{HttpClientOptions{}};
    // By address, by a name that resolves to one, and in other spellings of the address.
    for (const std::string host :
         {"127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"}) {
        SCOPED_TRACE(host);
        const auto response =
            client.send({.url = "http://" + host + ":" + std::to_string(server.port())}, {});
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().code, ErrorCode::PermissionDenied) << response.error().message;
    }
    EXPECT_EQ(server.connection_count(), 0);
}

TEST(HttpClient, FollowsRedirectsOnTheSameHostOnly) {
    const HttpTestServer other([](const ReceivedRequest&, TestConnection& connection) {
        connection.reply(200, "stolen");
        return true;
    });
    const HttpTestServer server([&](const ReceivedRequest& request, TestConnection& connection) {
        if (request.target == "/near") {
            connection.reply(307, "", "Location: /there\r\n");
        } else if (request.target == "/far") {
            connection.reply(307, "", "Location: " + other.url("/x") + "\r\n");
        } else if (request.target == "/file") {
            connection.reply(302, "", "Location: file:///etc/hostname\r\n");
        } else if (request.target == "/loop") {
            connection.reply(308, "", "Location: /loop\r\n");
        } else if (request.target == "/see") {
            connection.reply(303, "", "Location: /there\r\n");
        } else {
            connection.reply(200, request.method + " " + request.body);
        }
        return true;
    });
    const HttpClient client(local_options());
    const auto post = [&](const std::string& path) {
        return client.send({.method = "POST", .url = server.url(path), .headers = {}, .body = "b"},
                           {});
    };
    const auto near = post("/near");
    ASSERT_TRUE(near) << near.error().message;
    EXPECT_EQ(near->body, "POST b");
    // A POST is never turned into a GET: the caller sees the answer as it is.
    const auto see = post("/see");
    ASSERT_TRUE(see);
    EXPECT_EQ(see->status, 303);

    const auto far = post("/far");
    ASSERT_FALSE(far);
    EXPECT_EQ(far.error().code, ErrorCode::PermissionDenied);
    EXPECT_EQ(other.connection_count(), 0);
    EXPECT_FALSE(client.send({.url = server.url("/file")}, {}));
    const auto loop = post("/loop");
    ASSERT_FALSE(loop);
    EXPECT_EQ(loop.error().code, ErrorCode::Unavailable);
}

TEST(HttpClient, RefusesWhatIsNotHttp) {
    const HttpClient client(local_options());
    for (const std::string url :
         {"", "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1", "not a url",
          "http://", "http://user:secret@127.0.0.1/", "https://127.0.0.1:99999/"}) {
        SCOPED_TRACE(url);
        const auto response = client.send({.url = url}, {});
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error().code, ErrorCode::InvalidArgument);
        EXPECT_EQ(response.error().message.find("secret"), std::string::npos);
    }
}

TEST(HttpClient, RefusesHeadersAndMethodsThatWouldSplitTheRequest) {
    const HttpClient client(local_options());
    const auto code = [&](HttpRequest request) {
        request.url = "http://127.0.0.1:1/";
        const auto response = client.send(request, {});
        return response ? ErrorCode::Conflict : response.error().code;
    };
    EXPECT_EQ(code({.method = "GET /x HTTP/1.1\r\nX: y"}), ErrorCode::InvalidArgument);
    EXPECT_EQ(code({.method = ""}), ErrorCode::InvalidArgument);
    EXPECT_EQ(code({.headers = {{"A", "1\r\nB: 2"}}}), ErrorCode::InvalidArgument);
    EXPECT_EQ(code({.headers = {{"A:", "1"}}}), ErrorCode::InvalidArgument);
    EXPECT_EQ(code({.headers = {{"A", std::string("1\0002", 3)}}}), ErrorCode::InvalidArgument);
}

TEST(HttpClient, NeverRepeatsKeysInErrors) {
    const HttpClient client(local_options());
    const auto response = client.send({.method = "POST",
                                       .url = "http://127.0.0.1:1/path?key=sk-secret#sk-secret",
                                       .headers = {{"Authorization", "Bearer sk-secret"}},
                                       .body = "sk-secret"},
                                      {});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().message.find("sk-secret"), std::string::npos);
    EXPECT_NE(response.error().message.find("POST http://127.0.0.1:1/path"), std::string::npos);
}

TEST(HttpClient, IgnoresProxiesOfTheEnvironment) {
    const HttpTestServer server([](const ReceivedRequest& request, TestConnection& connection) {
        connection.reply(200, request.target);
        return true;
    });
    // NOLINTBEGIN(concurrency-mt-unsafe): no other thread reads the environment
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    const auto direct = HttpClient(local_options()).send({.url = server.url("/direct")}, {});
    unsetenv("http_proxy");
    // NOLINTEND(concurrency-mt-unsafe)
    ASSERT_TRUE(direct) << direct.error().message;
    EXPECT_EQ(direct->body, "/direct");

    HttpClientOptions options = local_options();
    options.proxy = server.url();
    const auto proxied = HttpClient(options).send({.url = "http://example.invalid/x"}, {});
    ASSERT_TRUE(proxied) << proxied.error().message;
    EXPECT_EQ(proxied->body, "http://example.invalid/x");
}

TEST(HttpClient, ServesManyThreadsAtOnce) {
    const HttpTestServer server([](const ReceivedRequest& request, TestConnection& connection) {
        connection.reply(200, request.target);
        return true;
    });
    const HttpClient client(local_options());
    std::atomic<int> right = 0;
    {
        std::vector<std::jthread> threads;
        threads.reserve(8);
        for (int t = 0; t < 8; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 25; ++i) {
                    const std::string path = "/" + std::to_string(t) + "/" + std::to_string(i);
                    const auto response = client.send({.url = server.url(path)}, {});
                    if (response && response->body == path) ++right;
                }
            });
        }
    }
    EXPECT_EQ(right, 200);
    EXPECT_LE(server.connection_count(), 8);
}

}  // namespace
}  // namespace braid::net
