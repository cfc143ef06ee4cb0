#pragma once

#include <functional>
#include <string>
#include <utility>

#include "braid/net/client/http_client.hpp"
#include "net/http_test_server.hpp"

namespace braid::testing {

/// A node's address with somebody at the door: each request is shown to `before`, and then given
/// to the node unless that keeps it.
class Front {
public:
    enum class Then { Forward, Hold };
    using Before = std::function<Then(const net::ReceivedRequest&)>;

    Front(std::string node, Before before)
        : node_(std::move(node)),
          before_(std::move(before)),
          server_([this](const net::ReceivedRequest& request, net::TestConnection& connection) {
              if (before_(request) == Then::Hold) {
                  connection.say_nothing();
                  return false;
              }
              const auto answer = forward(request);
              if (!answer) return false;
              connection.reply(answer->status, answer->body);
              return true;
          }) {}

    std::string url() const { return server_.url(); }

    /// Gives a request to the node, now.
    Result<net::HttpResponse> forward(const net::ReceivedRequest& received) const {
        net::HttpClientOptions options;
        options.allow_private = true;
        net::HttpRequest request;
        request.method = received.method;
        request.url = node_ + received.target;
        request.body = received.body;
        if (const auto type = received.headers.find("content-type");
            type != received.headers.end()) {
            request.headers.push_back({"Content-Type", type->second});
        }
        return net::HttpClient(options).send(request, {});
    }

private:
    std::string node_;
    Before before_;
    net::HttpTestServer server_;
};

}  // namespace braid::testing
