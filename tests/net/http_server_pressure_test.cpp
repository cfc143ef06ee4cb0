#include <atomic>
#include <fstream>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/present.hpp"
#include "net/http_server_fixture.hpp"

// Slow, absent, many and hostile clients; the end of a server.
namespace braid::net {
namespace {

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

TEST_F(HttpServerTest, ReadsBodiesNoFurtherThanItsMemoryGoes) {
    constexpr std::size_t declared = 100'000;
    const std::string head =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(declared) + "\r\n\r\n";
    HttpServerOptions options;
    options.bodies = std::make_shared<ByteBudget>(400'000);
    const auto bodies = options.bodies;
    start(options);
    {
        std::vector<RawClient> half;
        for (int i = 0; i < 30; ++i) {
            half.push_back(client());
            half.back().send(head + std::string(60'000, 'x'));
            EXPECT_LE(bodies->used(), bodies->limit());
        }
        // Each is answered with 503 or waits for the rest of what it was promised.
        wait_for([&] { return server->counters().refused > 0; });
        const auto late = [&] {
            RawClient raw = client();
            raw.send(head);
            const auto response = raw.read_response();
            return response && response->status == 503 && response->has("Connection: close");
        };
        // What is declared does not fit: nothing of it is read.
        wait_for([&] { return bodies->used() > bodies->limit() - declared + 16'384; });
        EXPECT_TRUE(late());
        // Small bodies go on.
        RawClient small = client();
        small.send(post("/small-talk", std::string(9000, 'y')));
        EXPECT_EQ(small.read_response().value_or(RawResponse{}).status, 200);
        EXPECT_LE(bodies->used(), bodies->limit());
    }
    wait_for([&] { return bodies->used() == 0; });
    RawClient whole = client();
    whole.send(post("/", std::string(declared, 'z')));
    const auto answered = whole.read_response();
    ASSERT_TRUE(answered);
    EXPECT_EQ(answered->status, 200);
    EXPECT_EQ(answered->body.size(), declared + 7);
    wait_for([&] { return bodies->used() == 0; });
}

TEST_F(HttpServerTest, CountsAnAnswerUntilItIsSent) {
    const auto memory = std::make_shared<ByteBudget>(64U << 20U);
    handler.answer = [&](const IncomingRequest&) {
        OutgoingResponse response = TestHandler::text(200, std::string(32U << 20U, 'x'));
        response.held = std::make_shared<HeldBytes>(memory);
        EXPECT_TRUE(response.held->grow_to(response.body.size()));
        return response;
    };
    start();
    RawClient deaf = client();
    deaf.send(get("/"));
    wait_for([&] { return memory->used() == 32U << 20U; });
    deaf.reset();
    wait_for([&] { return memory->used() == 0; });
    RawClient reader = client();
    reader.send(get("/"));
    EXPECT_EQ(reader.read_response().value_or(RawResponse{}).body.size(), 32U << 20U);
    wait_for([&] { return memory->used() == 0; });
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
