#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "braid/core/byte_budget.hpp"
#include "braid/net/client/header.hpp"
#include "braid/result.hpp"

namespace braid::net {

/// A request as it came in. Header names keep their case; header() does not mind it.
struct IncomingRequest {
    std::string method;
    std::string target;  // "/v1/collections?limit=3", as sent
    std::vector<HttpHeader> headers;
    std::string body;
    std::string peer;  // "127.0.0.1", "::1" or "unix"
    bool tls = false;
    /// Stop is requested when the client goes away before it is answered, or the server gives up
    /// draining.
    std::stop_token gone;
    std::shared_ptr<HeldBytes> held;  // of the body, while it is kept; none: it is not counted
    std::shared_ptr<void> admitted;   // what the handler's admit() learned, for its handle()

    std::optional<std::string_view> header(std::string_view name) const noexcept;
};

struct OutgoingResponse {
    int status = 200;
    std::vector<HttpHeader> headers;  // Content-Length, Date and Connection are the server's
    std::string body;
    std::shared_ptr<HeldBytes> held{};  // goes back once the answer is sent, or never will be
};

/// What answers. Both are called concurrently and never fail: an error is a response.
class HttpHandler {
public:
    HttpHandler() = default;
    HttpHandler(const HttpHandler&) = delete;
    HttpHandler& operator=(const HttpHandler&) = delete;
    HttpHandler(HttpHandler&&) = delete;
    HttpHandler& operator=(HttpHandler&&) = delete;
    virtual ~HttpHandler() = default;

    /// Checks the head of a request before any of its body is read; short and without blocking. An
    /// answer refuses it: the body is not read. Otherwise `body_limit` and `head.admitted` may be
    /// set.
    virtual std::optional<OutgoingResponse> admit(IncomingRequest& head,
                                                  std::size_t& body_limit) = 0;
    /// Answers a request that admit() let in, with what it left there. Runs on a worker; may block.
    virtual OutgoingResponse handle(const IncomingRequest& request) = 0;
    /// The answer to what is no request, or to one beyond a limit of the transport (400, 408, 413,
    /// 431, 503). Short and without blocking.
    virtual OutgoingResponse refuse(int status, std::string_view reason) = 0;
};

struct HttpServerOptions {
    std::string host = "127.0.0.1";  // an address; empty: no TCP
    std::uint16_t port = 0;          // 0: a free one
    std::string socket_path;         // of a Unix socket, mode 0600; empty: none
    std::string tls_certificate;     // PEM files; both or neither
    std::string tls_key;
    std::size_t workers = 0;         // requests that compute at the same time; 0: one per core
    std::size_t spare_workers = 16;  // more of them while others wait for a disk or an endpoint
    std::size_t max_connections = 10'000;
    std::size_t max_waiting = 1024;  // requests that wait for a worker; beyond: 503
    std::size_t max_head_bytes = std::size_t{32} << 10;
    std::size_t max_body_bytes = std::size_t{16} << 20;  // unless admit() says otherwise
    /// What the bodies of all requests may take together, from their arrival until they are
    /// answered; one beyond it is refused with 503, and read no further. The first 16 KiB of each
    /// are free, so that large bodies do not stop small ones. None: any amount.
    std::shared_ptr<ByteBudget> bodies;
    std::chrono::milliseconds idle_timeout{75'000};  // between requests
    std::chrono::milliseconds read_timeout{30'000};  // of one request
    std::chrono::milliseconds write_timeout{30'000};
};

/// HTTP/1.1 over TCP, TLS and a Unix socket. Few threads for any number of idle connections;
/// requests run on workers.
class HttpServer {
public:
    /// Binds and starts to answer. `handler` must outlive it. InvalidArgument, IoError (address in
    /// use, certificate unreadable), Locked (another server at the socket) name what is wrong.
    static Result<HttpServer> start(HttpServerOptions options, HttpHandler& handler);
    ~HttpServer();
    HttpServer(HttpServer&&) noexcept;
    HttpServer& operator=(HttpServer&&) noexcept;
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    std::uint16_t port() const;  // 0 without TCP
    /// Accepts nothing more, lets running requests end, and after `patience` stops them. True if
    /// all ended by themselves. Idempotent.
    bool drain(std::chrono::milliseconds patience);

    struct Counters {
        std::uint64_t connections = 0;  // open now
        std::uint64_t accepted = 0;
        std::uint64_t requests = 0;
        std::uint64_t refused = 0;  // by the transport
    };
    Counters counters() const;

private:
    struct State;
    explicit HttpServer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace braid::net
