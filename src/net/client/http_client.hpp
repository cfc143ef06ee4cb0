#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/net/client/header.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::net {

struct HttpRequest {
    std::string method = "GET";
    std::string url;  // http or https
    std::vector<HttpHeader> headers;
    std::string body;
};

struct HttpResponse {
    int status = 0;
    std::vector<HttpHeader> headers;
    std::string body;

    /// The first header of that name, whatever its case.
    std::optional<std::string_view> header(std::string_view name) const noexcept;
};

struct HttpClientOptions {
    std::chrono::milliseconds connect_timeout{10'000};
    std::chrono::milliseconds total_timeout{60'000};  // of one send(), redirects included
    std::size_t max_response_bytes = 64U << 20U;      // of the body; headers may have 256 KiB
    int max_redirects = 3;  // followed on the same scheme, host and port only
    std::string user_agent = "braid";
    /// Empty: a direct connection, whatever the environment says.
    std::string proxy;
    /// Empty: the system's certificates.
    std::string ca_file;
    /// A Unix socket that every request goes to, whatever host its URL names; empty: none.
    std::string unix_socket{};
    /// Off: connecting to loopback, private, link-local, shared and multicast addresses is refused,
    /// whatever name resolved to them. Turn on only where the URL comes from the operator. Behind a
    /// proxy only addresses written out in the URL can be checked.
    bool allow_private = false;
    /// On: every send() fails with PermissionDenied, and no socket is opened.
    bool offline = false;
};

/// Sends HTTP requests and keeps connections open between them. Safe for concurrent use.
///
/// Errors name the method, scheme, host and path, never a query string, a header or a body: those
/// may hold keys.
class HttpClient {
public:
    explicit HttpClient(HttpClientOptions options);
    ~HttpClient();
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    /// Any complete answer is a value, whatever its status. Fails with Unavailable (no connection,
    /// broken or timed out answer), DeadlineExceeded (`limits`), Cancelled, ResourceExhausted (body
    /// too large), PermissionDenied (offline, refused address), InvalidArgument (URL, method,
    /// header).
    Result<HttpResponse> send(const HttpRequest& request, const CallLimits& limits) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace braid::net
