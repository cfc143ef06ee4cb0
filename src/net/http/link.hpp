#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "braid/net/http/connection.hpp"
#include "braid/net/http/worker_pool.hpp"

namespace braid::net {

using Tcp = boost::asio::ip::tcp;
using Local = boost::asio::local::stream_protocol;
using TlsStream = boost::asio::ssl::stream<Tcp::socket>;

/// A connection, whatever carries it.
class Link : public ConnectionWire {
public:
    virtual void start() = 0;
    virtual void drain() = 0;
    virtual void give_up() = 0;  // stops the request that runs, or closes
    virtual void end() = 0;      // closes at once
};

/// What links need of the server. The links belong to Asio's thread.
struct Hub {
    Hub(HttpServerOptions options, HttpHandler& handler)
        : setup{std::move(options), handler},
          workers({.computing = setup.options.workers,
                   .spare = setup.options.spare_workers,
                   .max_waiting = setup.options.max_waiting}) {}

    OutgoingResponse answer(const IncomingRequest& request) const {
        try {
            return setup.handler.handle(request);
        } catch (const std::bad_alloc&) {
            return setup.handler.refuse(503, "out of memory");
        } catch (const std::exception&) {
            return setup.handler.refuse(500, "internal error");
        }
    }
    void remove(const Link* link) {
        links.erase(link);
        const std::scoped_lock lock(mutex);
        open = links.size();
        if (open == 0) empty.notify_all();
    }
    void add(std::shared_ptr<Link> link) {
        const Link* const key = link.get();
        links.emplace(key, std::move(link));
        const std::scoped_lock lock(mutex);
        open = links.size();
    }
    /// Waits until there are no links.
    bool wait_empty(std::chrono::milliseconds patience) {
        std::unique_lock lock(mutex);
        return empty.wait_for(lock, patience, [this] { return open == 0; });
    }

    boost::asio::io_context io{1};
    ConnectionSetup setup;
    std::unordered_map<const Link*, std::shared_ptr<Link>> links;
    std::mutex mutex;
    std::condition_variable empty;
    std::size_t open = 0;  // guarded by mutex
    WorkerPool workers;    // first to go: its tasks use the rest
};

// A link over what was accepted; `peer` is who is at the other end.
std::shared_ptr<Link> make_link(Hub& hub, Tcp::socket stream, std::string peer);
std::shared_ptr<Link> make_link(Hub& hub, TlsStream stream, std::string peer);
std::shared_ptr<Link> make_link(Hub& hub, Local::socket stream, std::string peer);

}  // namespace braid::net
