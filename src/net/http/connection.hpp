#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "braid/net/http/request_parser.hpp"
#include "braid/net/http/server.hpp"

namespace braid::net {

/// What carries one connection. Each call is answered later, never before it returns, by the method
/// of HttpConnection that is named; close() ends it all.
class ConnectionWire {
public:
    ConnectionWire() = default;
    ConnectionWire(const ConnectionWire&) = delete;
    ConnectionWire& operator=(const ConnectionWire&) = delete;
    ConnectionWire(ConnectionWire&&) = delete;
    ConnectionWire& operator=(ConnectionWire&&) = delete;
    virtual ~ConnectionWire() = default;

    virtual void read() = 0;                                     // on_bytes() or on_end()
    virtual void write(std::string head, std::string body) = 0;  // on_written()
    /// on_timeout(), unless another call moves it.
    virtual void wake_at(std::chrono::steady_clock::time_point when) = 0;
    /// Hands the request to a worker: on_answer(). False if too many wait already.
    virtual bool run(IncomingRequest request) = 0;
    /// `politely`: what was written reaches a client that still sends.
    virtual void close(bool politely) = 0;
};

/// What all connections of a server share.
struct ConnectionSetup {
    HttpServerOptions options;
    HttpHandler& handler;
    std::atomic<std::uint64_t> requests{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<bool> draining{false};
};

/// One connection's side of HTTP/1.1, whatever carries it: reads requests one after the other, has
/// them answered, and watches for the client's going away meanwhile. For one thread at a time.
class HttpConnection {
public:
    /// Both must outlive it.
    HttpConnection(ConnectionSetup& setup, ConnectionWire& wire, std::string peer, bool tls);

    void start();
    void on_bytes(std::string_view bytes);
    /// Nothing more will come: the client closed, or the connection broke.
    void on_end();
    void on_written(bool sent);
    void on_answer(OutgoingResponse response);
    void on_timeout();
    /// The server ends: closes unless a request is under way.
    void drain();
    /// Stops the request that is running, or closes.
    void give_up();

private:
    enum class State { Reading, Continuing, Running, Writing, Closed };
    using Clock = std::chrono::steady_clock;

    void advance();
    void expect_request();
    void read_more();
    void skip_blank_lines();
    /// False if the head was refused, or the body waits for our word.
    bool admit();
    void dispatch();
    void refuse(int status, std::string_view reason);
    void respond(OutgoingResponse response, bool keep);
    void close(bool politely);

    ConnectionSetup& setup_;
    ConnectionWire& wire_;
    std::string peer_;
    bool tls_;
    State state_ = State::Reading;
    std::unique_ptr<RequestParser> parser_;  // from the first byte of a request on
    std::string input_;                      // received, not yet taken by the parser
    bool head_checked_ = false;              // admit() was asked
    bool reading_ = false;                   // a read is under way
    bool ended_ = false;
    bool keep_ = true;        // after the answer that is under way
    bool politely_ = false;   // more of a request may be coming that nobody will read
    bool head_only_ = false;  // the request was HEAD
    std::stop_source gone_;
    std::shared_ptr<HeldBytes> held_;  // of the answer that is being sent
};

}  // namespace braid::net
