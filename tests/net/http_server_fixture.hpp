#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "braid/net/http/server.hpp"
#include "net/raw_client.hpp"
#include "net/test_handler.hpp"

namespace braid::net {

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

inline std::string get(const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
}
inline std::string post(const std::string& target, const std::string& body) {
    return "POST " + target +
           " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
}

}  // namespace braid::net
