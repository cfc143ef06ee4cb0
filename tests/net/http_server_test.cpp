#include "braid/net/http_server.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/present.hpp"
#include "net/raw_client.hpp"
#include "net/test_handler.hpp"

namespace braid::net {
namespace {

using std::chrono::milliseconds;
using testing::RawClient;
using testing::RawResponse;
using testing::TestHandler;

class HttpServerTest : public ::testing::Test {
protected:
    HttpServer& start(HttpServerOptions options = {}) {
        auto started = HttpServer::start(std::move(options), handler);
        EXPECT_TRUE(started) << started.error().message;
        server = std::make_unique<HttpServer>(*std::move(started));
        return *server;
    }
    RawClient client() const { return RawClient(server->port()); }

    /// Sends, and gives the status of the one answer, after which the connection must end; 0 if
    /// none comes.
    int refusal(const std::string& bytes) {
        RawClient raw = client();
        raw.send(bytes);
        const auto response = raw.read_response();
        if (!response) return 0;
        EXPECT_TRUE(response->has("Connection: close")) << bytes;
        EXPECT_TRUE(raw.ends()) << bytes;
        return response->status;
    }

    static void wait_for(const std::function<bool()>& condition) {
        while (!condition()) std::this_thread::sleep_for(milliseconds(1));
    }

    TestHandler handler;
    std::unique_ptr<HttpServer> server;
};

std::string get(const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
}
std::string post(const std::string& target, const std::string& body) {
    return "POST " + target +
           " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
}

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

TEST_F(HttpServerTest, GivesUpOnClientsThatAreSlow) {
    HttpServerOptions options;
    options.idle_timeout = milliseconds(300);
    options.read_timeout = milliseconds(300);
    options.write_timeout = milliseconds(300);
    handler.answer = [](const IncomingRequest& request) {
        return TestHandler::text(200,
                                 std::string(request.target == "/large" ? 64U << 20U : 1U, 'x'));
    };
    start(options);
    RawClient idle = client();
    EXPECT_TRUE(idle.ends());
    EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: "), 408);
    EXPECT_EQ(refusal("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc"), 408);

    // One byte now and then is no progress.
    RawClient trickling = client();
    std::atomic<bool> done = false;
    std::thread sender([&] {
        trickling.send("GET / HTTP/1.1\r\nHost: a\r\nX: ");
        while (!done && trickling.send("x")) std::this_thread::sleep_for(milliseconds(20));
    });
    const auto refused = trickling.read_response();
    done = true;
    sender.join();
    EXPECT_EQ(refused.value_or(RawResponse{}).status, 408);
    trickling.close();

    RawClient deaf = client();
    deaf.send(get("/large"));
    wait_for([&] { return handler.handled == 1; });
    wait_for([&] { return server->counters().connections == 0; });
}

TEST_F(HttpServerTest, TellsARequestThatItsClientIsGone) {
    start();
    for (const bool by_reset : {false, true}) {
        handler.handled = 0;
        handler.cancelled = 0;
        RawClient raw = client();
        raw.send(get("/wait"));
        wait_for([&] { return handler.handled == 1; });
        by_reset ? raw.reset() : raw.close();
        wait_for([&] { return handler.cancelled == 1; });
        wait_for([&] { return server->counters().connections == 0; });
    }
    RawClient raw = client();
    raw.send(get("/fine"));
    EXPECT_EQ(raw.read_response().value_or(RawResponse{}).status, 200);
}

TEST_F(HttpServerTest, RefusesRequestsAndConnectionsBeyondTheirNumber) {
    HttpServerOptions options;
    options.workers = 1;
    options.spare_workers = 0;
    options.max_waiting = 2;
    options.max_connections = 5;
    start(options);
    std::vector<RawClient> clients;
    clients.reserve(5);
    clients.push_back(client());
    clients.back().send(get("/wait"));
    wait_for([&] { return handler.handled == 1; });
    for (int i = 0; i < 4; ++i) {
        clients.push_back(client());
        clients.back().send(get("/" + std::to_string(i)));
    }
    wait_for([&] { return server->counters().connections == 5; });
    RawClient beyond = client();
    EXPECT_TRUE(beyond.ends());
    wait_for([&] { return server->counters().requests + server->counters().refused == 6; });
    handler.release();
    int busy = 0;
    for (RawClient& raw : clients) {
        const auto response = raw.read_response();
        ASSERT_TRUE(response.has_value());
        if (present(response).status == 503) ++busy;
    }
    EXPECT_EQ(busy, 2);
}

TEST_F(HttpServerTest, DrainsWhatRunsAndClosesWhatIsIdle) {
    start();
    RawClient idle = client();
    RawClient running = client();
    running.send(get("/wait"));
    wait_for([&] { return handler.handled == 1 && server->counters().connections == 2; });
    std::thread drainer([&] { EXPECT_TRUE(server->drain(milliseconds(60'000))); });
    EXPECT_TRUE(idle.ends());
    wait_for([&] { return !client().connected(); });
    handler.release();
    const auto response = running.read_response();
    drainer.join();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(present(response).status, 200);
    EXPECT_TRUE(present(response).has("Connection: close"));
    EXPECT_TRUE(running.ends());
    EXPECT_EQ(handler.cancelled, 0);
    EXPECT_TRUE(server->drain(milliseconds(0)));
}

TEST_F(HttpServerTest, StopsRequestsThatOutlastItsPatience) {
    start();
    RawClient raw = client();
    raw.send(get("/wait"));
    RawClient half = client();
    half.send("GET / HTT");
    wait_for([&] { return handler.handled == 1 && server->counters().connections == 2; });
    EXPECT_FALSE(server->drain(milliseconds(20)));
    EXPECT_EQ(handler.cancelled, 1);
    EXPECT_EQ(server->counters().connections, 0U);
    EXPECT_TRUE(half.ends());
}

TEST_F(HttpServerTest, LosesNoAnswerWhenItDrainsUnderLoad) {
    start();
    std::atomic<int> answered = 0;
    std::vector<std::thread> clients;
    clients.reserve(8);
    for (int i = 0; i < 8; ++i) {
        clients.emplace_back([&] {
            RawClient raw = client();
            while (raw.send(post("/x", "body"))) {
                const auto response = raw.read_response();
                if (!response) break;
                ++answered;
                if (response->has("Connection: close")) break;
            }
            EXPECT_FALSE(raw.hung());
        });
    }
    wait_for([&] { return answered > 2000; });
    EXPECT_TRUE(server->drain(milliseconds(60'000)));
    for (std::thread& thread : clients) thread.join();
    EXPECT_EQ(answered, handler.handled);
}

TEST_F(HttpServerTest, SurvivesAHandlerWithoutMemory) {
    handler.answer = [](const IncomingRequest&) -> OutgoingResponse { throw std::bad_alloc(); };
    start();
    RawClient raw = client();
    raw.send(get("/"));
    EXPECT_EQ(raw.read_response().value_or(RawResponse{}).status, 503);
}

TEST(HttpServer, SaysWhyItCannotStart) {
    TestHandler handler;
    HttpServerOptions options;
    options.host = "";
    EXPECT_EQ(HttpServer::start(options, handler).error().code, ErrorCode::InvalidArgument);
    options.host = "example.org";
    EXPECT_EQ(HttpServer::start(options, handler).error().code, ErrorCode::InvalidArgument);
    options.host = "127.0.0.1";
    options.tls_key = "/nowhere/key.pem";
    EXPECT_EQ(HttpServer::start(options, handler).error().code, ErrorCode::InvalidArgument);
    options.tls_certificate = "/nowhere/certificate.pem";
    const auto unreadable = HttpServer::start(options, handler);
    ASSERT_FALSE(unreadable);
    EXPECT_EQ(unreadable.error().code, ErrorCode::IoError);
    EXPECT_NE(unreadable.error().message.find("certificate.pem"), std::string::npos);

    const auto first = HttpServer::start({}, handler);
    ASSERT_TRUE(first);
    HttpServerOptions taken;
    taken.port = first->port();
    EXPECT_EQ(HttpServer::start(taken, handler).error().code, ErrorCode::IoError);
}

std::string mutated(const std::string& valid, std::mt19937& rng) {
    static const std::vector<std::string> kPieces{"\r\n",
                                                  "\n",
                                                  "\r",
                                                  std::string(1, '\0'),
                                                  " ",
                                                  "\t",
                                                  ":",
                                                  "\r\n\r\n",
                                                  "HTTP/1.1",
                                                  "HTTP/9.9",
                                                  "Content-Length: 5\r\n",
                                                  "Transfer-Encoding: chunked\r\n",
                                                  "Expect: 100-continue\r\n",
                                                  "Connection: close\r\n",
                                                  "ffffffffffffffff\r\n",
                                                  "0\r\n\r\n",
                                                  "-1",
                                                  "\xff\xfe",
                                                  "%00",
                                                  "GET "};
    std::string out = valid;
    const auto place = [&] { return out.empty() ? 0 : rng() % out.size(); };
    for (unsigned changes = rng() % 4 + 1; changes > 0; --changes) {
        switch (rng() % 6) {
            case 0:
                if (!out.empty()) out[place()] = static_cast<char>(rng());
                break;
            case 1:
                out.insert(place(), kPieces[rng() % kPieces.size()]);
                break;
            case 2:
                out.erase(place(), rng() % 8 + 1);
                break;
            case 3:
                out.resize(place());
                break;
            case 4:
                out.insert(place(), out.substr(place(), rng() % 40));
                break;
            default:
                out += valid;
        }
    }
    return out;
}

TEST_F(HttpServerTest, AnswersOrClosesWhateverTenThousandBrokenRequestsSay) {
    constexpr unsigned seed = 20'26;
    SCOPED_TRACE(seed);
    std::mt19937 rng(seed);
    start();
    const std::vector<std::string> valid{
        get("/v1/collections?limit=3"),
        post("/rpc", R"({"jsonrpc": "2.0", "id": 1, "method": "braid.stats"})"),
        // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one request on two lines
        "POST /v1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "4\r\nwiki\r\n5;a=b\r\npedia\r\n0\r\nX: y\r\n\r\n",
        "PUT /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
        "HEAD / HTTP/1.0\r\nConnection: keep-alive\r\nAccept: */*\r\n\r\n",
    };
    for (int i = 0; i < 10'000; ++i) {
        const std::string bytes = mutated(valid[rng() % valid.size()], rng);
        RawClient raw = client();
        raw.send(bytes);
        raw.finish_sending();
        while (const auto response = raw.read_response(bytes.find("HEAD") != std::string::npos)) {
            ASSERT_TRUE(response->status < 500) << response->status << ": " << bytes;
        }
        ASSERT_FALSE(raw.hung()) << bytes;
    }
    RawClient raw = client();
    raw.send(get("/alive"));
    EXPECT_EQ(raw.read_response().value_or(RawResponse{}).body, "GET /alive|");
}

std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    file >> total >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_F(HttpServerTest, KeepsAThousandIdleConnectionsInLittleMemory) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8192);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 2200) GTEST_SKIP() << "too few descriptors: " << limit.rlim_cur;
    start();
    constexpr std::size_t connections = 1000;
    std::vector<RawClient> clients;
    clients.reserve(connections);
    client().send(get("/warm"));
    const std::size_t before = resident_bytes();
    for (std::size_t i = 0; i < connections; ++i) {
        clients.push_back(client());
        clients.back().send(post("/", std::string(3000, 'x')));
        ASSERT_TRUE(clients.back().read_response().has_value());
    }
    EXPECT_GE(server->counters().connections, connections);
    const std::size_t after = resident_bytes();
    const double megabytes = static_cast<double>(after - std::min(after, before)) / 1e6;
    std::cout << "1,000 idle connections: " << megabytes << " MB\n";
    RecordProperty("idle_connections_mb", std::to_string(megabytes));
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // they add their own
    EXPECT_LT(megabytes, 50);
#endif
}

}  // namespace
}  // namespace braid::net
