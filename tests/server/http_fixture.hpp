#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/server/http/app.hpp"
#include "server/service_fixture.hpp"

namespace braid::testing {

using Headers = std::vector<net::HttpHeader>;

/// For the key "<name>-key" (key_fixture.hpp).
inline Headers bearer(const std::string& name) {
    return {{"Authorization", "Bearer " + name + "-key"}};
}

/// A request as a well-behaved client on this machine sends it.
inline net::IncomingRequest http_request(std::string method, std::string target, std::string body,
                                         Headers headers = {}) {
    net::IncomingRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.headers = std::move(headers);
    request.headers.push_back({"Host", "127.0.0.1:7878"});
    if (!body.empty() && !request.header("Content-Type")) {
        request.headers.push_back({"Content-Type", "application/json"});
    }
    request.body = std::move(body);
    request.peer = "127.0.0.1";
    return request;
}

/// As the transport does: first the head is judged, then the request is answered.
inline net::OutgoingResponse send(net::HttpHandler& handler, const net::IncomingRequest& request) {
    std::size_t limit = std::size_t{1} << 30;
    net::IncomingRequest head = request;
    head.body.clear();
    if (auto refused = handler.admit(head, limit)) return *std::move(refused);
    if (request.body.size() > limit) return handler.refuse(413, "the body is too large");
    head.body = request.body;
    return handler.handle(head);
}

inline std::string header_of(const net::OutgoingResponse& response, const std::string& name) {
    for (const net::HttpHeader& header : response.headers) {
        if (header.name == name) return header.value;
    }
    return "";
}

/// An app over a database in memory.
class HttpTest : public ::testing::Test {
protected:
    explicit HttpTest(server::HttpAppOptions options = {}) { restart(std::move(options)); }

    void restart(server::HttpAppOptions options) {
        options.service.embedder = "fake";
        options.version = "1.2.3";
        app.reset();
        app = std::make_unique<server::HttpApp>(database, std::move(options));
    }
    net::OutgoingResponse ask(const std::string& method, const std::string& target,
                              const std::string& body = "", const Headers& headers = {}) {
        return send(*app, http_request(method, target, body, headers));
    }
    /// The JSON of an answer with that status.
    Value json(const std::string& method, const std::string& target, const std::string& body = "",
               int status = 200, const Headers& headers = {}) {
        const auto response = ask(method, target, body, headers);
        EXPECT_EQ(response.status, status) << method << " " << target << "\n" << response.body;
        return parsed(response.body);
    }
    /// The code of a problem with that status.
    std::string code(const net::OutgoingResponse& response, int status) {
        EXPECT_EQ(response.status, status) << response.body;
        EXPECT_EQ(header_of(response, "Content-Type"), "application/problem+json");
        const Value problem = parsed(response.body);
        EXPECT_EQ(at(problem, "status"), Value(status));
        EXPECT_EQ(at(problem, "instance"), Value(header_of(response, "X-Request-Id")));
        const Value found = at(problem, "code");
        return found.is_string() ? found.as_string() : "";
    }
    void add_notes() {
        json("POST", "/v1/collections/notes/chunks", R"({"chunks": [
            {"_id": "fox#0", "document_id": "fox", "chunk_index": 0, "text": "Red foxes hunt mice.",
             "metadata": {"year": 2020, "kind": "animal"}},
            {"_id": "fox#1", "document_id": "fox", "chunk_index": 1, "text": "They hunt at dusk.",
             "metadata": {"year": 2020, "kind": "animal"}},
            {"_id": "oak", "text": "Oaks are old trees.", "metadata": {"kind": "plant"}}]})");
    }

    Database database = memory_database();
    std::unique_ptr<server::HttpApp> app;
};

}  // namespace braid::testing
