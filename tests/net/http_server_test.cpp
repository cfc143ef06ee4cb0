#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "braid/net/http/server.hpp"
#include "core/present.hpp"
#include "net/http_server_fixture.hpp"

namespace braid::net {
namespace {

TEST_F(HttpServerTest, AnswersRequestsOnOneConnection) {
    start();
    RawClient raw = client();
    for (int i = 0; i < 3; ++i) {
        raw.send(get("/a?b=" + std::to_string(i)));
        const auto response = raw.read_response();
        ASSERT_TRUE(response.has_value());
        EXPECT_EQ(present(response).status, 200);
        EXPECT_EQ(present(response).body, "GET /a?b=" + std::to_string(i) + "|");
        EXPECT_TRUE(present(response).has("Connection: keep-alive"));
        EXPECT_TRUE(present(response).has("Date: "));
        EXPECT_TRUE(present(response).has("Content-Type: text/plain\r\n"));
    }
    EXPECT_EQ(server->counters().accepted, 1U);
    EXPECT_EQ(server->counters().connections, 1U);
    EXPECT_EQ(server->counters().requests, 3U);
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrderHoweverTheBytesAreCut) {
    start();
    std::string bytes;
    constexpr int count = 100;
    for (int i = 0; i < count; ++i) {
        bytes += i % 2 == 0 ? get("/" + std::to_string(i))
                            : post("/" + std::to_string(i),
                                   std::string(static_cast<std::size_t>(i) * 37, 'x'));
    }
    for (unsigned seed = 0; seed < 5; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 rng(seed);
        RawClient raw = client();
        std::thread sender([&] {
            for (std::size_t at = 0; at < bytes.size();) {
                const std::size_t size = seed == 0 ? bytes.size() : rng() % 400 + 1;
                raw.send(std::string_view(bytes).substr(at, size));
                at += size;
            }
        });
        for (int i = 0; i < count; ++i) {
            const auto response = raw.read_response();
            ASSERT_TRUE(response.has_value()) << i;
            const std::string wanted = "/" + std::to_string(i) + "|";
            EXPECT_NE(present(response).body.find(wanted), std::string::npos);
        }
        sender.join();
    }
}

TEST_F(HttpServerTest, TakesARequestByteByByte) {
    start();
    RawClient raw = client();
    for (const char c : "\r\n\r\n" + post("/slow", "body")) raw.send(std::string(1, c));
    const auto response = raw.read_response();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(present(response).body, "POST /slow|body");
}

TEST_F(HttpServerTest, ReadsChunksAndKeepsTrailersOutOfTheHeaders) {
    handler.answer = [](const IncomingRequest& request) {
        return TestHandler::text(200, request.body + (request.header("x-late") ? "late" : ""));
    };
    start();
    RawClient raw = client();
    const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string request =
        head + "4\r\nwiki\r\nA;name=\"v\"\r\npedia, the\r\n0\r\nX-Late: 1\r\n\r\n";
    raw.send(request + request);
    for (int i = 0; i < 2; ++i) {
        const auto response = raw.read_response();
        ASSERT_TRUE(response.has_value());
        EXPECT_EQ(present(response).body, "wikipedia, the");
    }
    EXPECT_EQ(refusal(head + "zz\r\nwiki\r\n0\r\n\r\n"), 400);
    EXPECT_EQ(refusal(head + "4\r\nwikiX\r\n0\r\n\r\n"), 400);
    EXPECT_EQ(refusal(head + "FFFFFFFFFFFFFFFFF\r\nwiki"), 400);
}

TEST_F(HttpServerTest, AsksForABodyOnlyOnceItsHeadIsAdmitted) {
    start();
    const std::string rest =
        " HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
    RawClient raw = client();
    raw.send("POST /wanted" + rest);
    const auto go_on = raw.read_response();
    ASSERT_TRUE(go_on.has_value());
    EXPECT_EQ(present(go_on).status, 100);
    raw.send("body");
    const auto response = raw.read_response();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(present(response).body, "POST /wanted|body");

    EXPECT_EQ(refusal("POST /forbidden" + rest), 403);
    EXPECT_EQ(handler.handled, 1);

    // Without a body there is nothing unread: the connection goes on.
    RawClient other = client();
    other.send(get("/forbidden") + get("/next"));
    EXPECT_EQ(other.read_response().value_or(RawResponse{}).status, 403);
    EXPECT_EQ(other.read_response().value_or(RawResponse{}).body, "GET /next|");
}

TEST_F(HttpServerTest, AnswersHeadWithoutABody) {
    start();
    RawClient raw = client();
    raw.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto head = raw.read_response(true);
    ASSERT_TRUE(head.has_value());
    EXPECT_TRUE(present(head).has("Content-Length: 8\r\n"));
    raw.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(raw.read_response().value_or(RawResponse{}).body, "OPTIONS *|");
}

TEST_F(HttpServerTest, LeavesOutBodiesAndHeadersThatCannotBe) {
    handler.answer = [](const IncomingRequest& request) -> OutgoingResponse {
        if (request.target == "/none") return {204, {}, "nobody sees this"};
        return {
            200, {{"X-Split", "a\r\nX-Evil: 1"}, {"Content-Length", "7"}, {"X-Fine", "b"}}, "ok"};
    };
    start();
    RawClient raw = client();
    raw.send(get("/none") + get("/split"));
    const auto none = raw.read_response();
    ASSERT_TRUE(none.has_value());
    EXPECT_FALSE(present(none).has("Content-Length"));
    const auto split = raw.read_response();
    ASSERT_TRUE(split.has_value());
    EXPECT_EQ(present(split).body, "ok");
    EXPECT_FALSE(present(split).has("Evil"));
    EXPECT_TRUE(present(split).has("X-Fine: b\r\n"));
}

TEST_F(HttpServerTest, ClosesAfterHttp10UnlessAskedNotTo) {
    start();
    RawClient raw = client();
    raw.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(raw.read_response().value_or(RawResponse{}).status, 200);
    raw.send("GET /b HTTP/1.0\r\n\r\n");
    EXPECT_EQ(raw.read_response().value_or(RawResponse{}).status, 200);
    EXPECT_TRUE(raw.ends());
    EXPECT_EQ(refusal("GET /c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), 200);
}

TEST_F(HttpServerTest, RefusesWhatTwoServersCouldReadDifferently) {
    start();
    const std::string line = "POST / HTTP/1.1\r\n";
    const std::string host = "Host: a\r\n";
    const std::vector<std::string> requests{
        line + host + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        line + host + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        line + host + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        line + host + "Content-Length: 3, 4\r\n\r\nabcd",
        line + host + "Content-Length: -1\r\n\r\n",
        line + host + "Content-Length: +3\r\n\r\nabc",
        line + host + "Content-Length: 3 3\r\n\r\nabc",
        line + host + "Content-Length: 99999999999999999999999\r\n\r\n",
        line + host + "Content-Length:\r\n\r\n",
        line + host + "Transfer-Encoding: gzip\r\n\r\n",
        line + host + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        line + host + "Transfer-Encoding: xchunked\r\n\r\n",
        line + host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        line + host + "X-Folded: a\r\n b\r\n\r\n",
        line + host + "X-Folded: a\r\n\tb\r\n\r\n",
        line + " " + host + "\r\n",
        line + host + std::string("X-Nul: a\0b\r\n\r\n", 14),
        line + host + "X-Bare: a\nX-Other: b\r\n\r\n",
        line + host + "X-Bare: a\rX-Other: b\r\n\r\n",
        line + host + "Content-Length : 3\r\n\r\nabc",
        line + host + "X Space: 3\r\n\r\n",
        line + host + ": no name\r\n\r\n",
        line + host + "no colon\r\n\r\n",
        line + "\r\n",
        line + host + host + "\r\n",
        "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/1.2\r\nHost: a\r\n\r\n",
        "GET / HTTP/0.9\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / http/1.1\r\nHost: a\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n",
        "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",
        std::string("\x16\x03\x01\x00\xa5\x01\x00\x00", 8),  // TLS
    };
    for (const std::string& request : requests) EXPECT_EQ(refusal(request), 400) << request;
    EXPECT_EQ(handler.handled, 0);
    EXPECT_EQ(server->counters().refused, requests.size());
}

TEST_F(HttpServerTest, AcceptsALengthThatIsSaidTwice) {
    start();
    RawClient raw = client();
    raw.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc");
    EXPECT_EQ(raw.read_response().value_or(RawResponse{}).body, "POST /|abc");
}

TEST_F(HttpServerTest, NamesTheLimitThatWasPassed) {
    HttpServerOptions options;
    options.max_head_bytes = 1000;
    options.max_body_bytes = 100'000;
    start(options);
    EXPECT_EQ(refusal("GET /" + std::string(2000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 431);
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(5'000'000, 'a')), 431);
    EXPECT_EQ(refusal(post("/", std::string(100'001, 'a'))), 413);
    EXPECT_EQ(refusal("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\n"),
              413);
    EXPECT_EQ(refusal(post("/small", std::string(11, 'a'))), 413);
    const std::string chunked = " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    EXPECT_EQ(refusal("POST /small" + chunked + "6\r\nabcdef\r\n6\r\nabcdef\r\n0\r\n\r\n"), 413);
    EXPECT_EQ(refusal("POST /" + chunked + "7fffffffffffffff\r\n" + std::string(200'000, 'a')),
              413);
    EXPECT_EQ(refusal("POST /" + chunked + "3;" + std::string(200'000, 'a')), 431);
    EXPECT_EQ(refusal("POST /" + chunked + "0\r\nX: " + std::string(200'000, 'a')), 431);
    EXPECT_EQ(handler.handled, 0);

    RawClient raw = client();
    raw.send(post("/small", "0123456789") + post("/", std::string(100'000, 'a')));
    EXPECT_EQ(raw.read_response().value_or(RawResponse{}).status, 200);
    EXPECT_EQ(raw.read_response().value_or(RawResponse{}).body.size(), 100'007U);
}

TEST_F(HttpServerTest, TakesAndGivesLargeBodies) {
    HttpServerOptions options;
    options.max_body_bytes = std::size_t{64} << 20;
    start(options);
    RawClient raw = client();
    const std::string body(std::size_t{40} << 20, 'b');
    std::thread sender([&] { raw.send(post("/", body)); });
    const auto response = raw.read_response();
    sender.join();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(present(response).body.size(), body.size() + 7);
}

}  // namespace
}  // namespace braid::net
