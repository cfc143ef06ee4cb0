#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "braid/net/http/server.hpp"

namespace braid::testing {

/// Answers with what it was asked: "METHOD TARGET|body". `/forbidden` is refused by its head,
/// `/small` may have a body of 10 bytes, `/wait` runs until the client is gone or release() is
/// called.
class TestHandler final : public net::HttpHandler {
public:
    std::optional<net::OutgoingResponse> admit(net::IncomingRequest& head,
                                               std::size_t& body_limit) override {
        if (head.target == "/forbidden") return text(403, "forbidden");
        if (head.target == "/small") body_limit = 10;
        return std::nullopt;
    }
    net::OutgoingResponse handle(const net::IncomingRequest& request) override {
        ++handled;
        if (answer) return answer(request);
        if (request.target == "/wait") {
            while (!request.gone.stop_requested() && !released) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            if (request.gone.stop_requested()) ++cancelled;
        }
        return text(200, request.method + " " + request.target + "|" + request.body);
    }
    net::OutgoingResponse refuse(int status, std::string_view reason) override {
        return text(status, std::string(reason));
    }

    static net::OutgoingResponse text(int status, std::string body) {
        return {status, {{"Content-Type", "text/plain"}}, std::move(body)};
    }
    void release() { released = true; }

    std::function<net::OutgoingResponse(const net::IncomingRequest&)> answer;  // set before use
    std::atomic<int> handled{0};
    std::atomic<int> cancelled{0};
    std::atomic<bool> released{false};
};

}  // namespace braid::testing
