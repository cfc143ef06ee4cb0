#include "braid/net/http_server.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "braid/net/header_names.hpp"
#include "braid/net/http_connection.hpp"
#include "braid/net/socket_file.hpp"
#include "braid/net/worker_pool.hpp"

namespace braid::net {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;
using Tcp = asio::ip::tcp;
using Local = asio::local::stream_protocol;
using TlsStream = asio::ssl::stream<Tcp::socket>;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kSmallRead = std::size_t{16} << 10;
constexpr std::size_t kLargeRead = std::size_t{64} << 10;
/// How long, and for how much, a client that still sends is listened to after the last answer.
constexpr milliseconds kLinger{1000};
constexpr std::size_t kLingerBytes = std::size_t{1} << 20;
constexpr milliseconds kAcceptPause{100};
/// What requests that were told to stop get for doing so.
constexpr milliseconds kGrace{10'000};

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
    bool wait_empty(milliseconds patience) {
        std::unique_lock lock(mutex);
        return empty.wait_for(lock, patience, [this] { return open == 0; });
    }

    asio::io_context io{1};
    ConnectionSetup setup;
    std::unordered_map<const Link*, std::shared_ptr<Link>> links;
    std::mutex mutex;
    std::condition_variable empty;
    std::size_t open = 0;  // guarded by mutex
    WorkerPool workers;    // first to go: its tasks use the rest
};

/// Its mutex is held whenever the connection moves: by what Asio calls on its thread, and by the
/// worker that brings an answer and, where the socket takes it whole, sends it at once. That saves
/// a change of threads for each request.
template <class Stream>
class LinkOf final : public Link, public std::enable_shared_from_this<LinkOf<Stream>> {
    static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;

public:
    LinkOf(Hub& hub, Stream stream, std::string peer)
        : hub_(hub),
          stream_(std::move(stream)),
          timer_(hub.io),
          connection_(hub.setup, *this, std::move(peer), kTls) {}

    void start() override {
        const std::scoped_lock lock(mutex_);
        if constexpr (kTls) {
            wake_at(Clock::now() + hub_.setup.options.read_timeout);
            shaking_hands_ = true;
            stream_.async_handshake(asio::ssl::stream_base::server,
                                    [self = this->shared_from_this()](Code error) {
                                        const std::scoped_lock inner(self->mutex_);
                                        self->shaking_hands_ = false;
                                        if (self->ended_) return;
                                        if (error) return self->end_now();
                                        self->connection_.start();
                                    });
        } else {
            connection_.start();
        }
    }

    void read() override {
        reading_ = true;
        // Large bodies come in large pieces; what is never written to takes no memory.
        const std::size_t size = last_size_ < kSmallRead ? kSmallRead : kLargeRead;
        if (std::exchange(input_size_, size) != size) {
            input_ = std::make_unique_for_overwrite<char[]>(size);
        }
        stream_.async_read_some(asio::buffer(input_.get(), input_size_),
                                [self = this->shared_from_this()](Code error, std::size_t got) {
                                    const std::scoped_lock lock(self->mutex_);
                                    self->finish_read(error, got);
                                });
    }

    void write(std::string head, std::string body) override {
        head_ = std::move(head);
        body_ = std::move(body);
        const std::size_t sent = !kTls && on_worker_ ? send_now() : 0;
        if (on_worker_ && sent == head_.size() + body_.size()) {
            sent_whole_ = true;
            return;
        }
        const std::size_t of_head = std::min(sent, head_.size());
        const std::array<asio::const_buffer, 2> parts{asio::buffer(head_) + of_head,
                                                      asio::buffer(body_) + (sent - of_head)};
        asio::async_write(stream_, parts,
                          [self = this->shared_from_this()](Code error, std::size_t /*size*/) {
                              const std::scoped_lock lock(self->mutex_);
                              self->finish_write(!error);
                          });
    }

    // The timer is rarely moved: it fires, and sees whether the time has come.
    void wake_at(Clock::time_point when) override {
        deadline_ = when;
        if (when < timer_set_to_) set_timer(when);
    }

    bool run(IncomingRequest request) override {
        return hub_.workers.post(
            [self = this->shared_from_this(), request = std::move(request)]() mutable {
                OutgoingResponse response = self->hub_.answer(request);
                request = {};
                if constexpr (kTls) {  // a session of OpenSSL is for one thread
                    asio::io_context& io = self->hub_.io;
                    asio::post(io, [self, response = std::move(response)]() mutable {
                        const std::scoped_lock lock(self->mutex_);
                        self->connection_.on_answer(std::move(response));
                    });
                } else {
                    const std::scoped_lock lock(self->mutex_);
                    self->bring(std::move(response));
                }
            });
    }

    void close(bool politely) override {
        if (on_worker_) {  // the hub's links are the other thread's
            asio::post(hub_.io, [self = this->shared_from_this(), politely] {
                const std::scoped_lock lock(self->mutex_);
                self->close_now(politely);
            });
        } else {
            close_now(politely);
        }
    }

    void drain() override {
        const std::scoped_lock lock(mutex_);
        if (lingering_ || shaking_hands_) return end_now();
        connection_.drain();
    }
    void give_up() override {
        const std::scoped_lock lock(mutex_);
        connection_.give_up();
    }
    void end() override {
        const std::scoped_lock lock(mutex_);
        end_now();
    }

private:
    void bring(OutgoingResponse response) {
        on_worker_ = true;
        connection_.on_answer(std::move(response));
        while (std::exchange(sent_whole_, false)) finish_write(true);  // or what follows at once
        on_worker_ = false;
    }

    /// How many bytes the socket took without waiting.
    std::size_t send_now() {
        if (ended_) return 0;
        std::array<iovec, 2> parts{iovec{head_.data(), head_.size()},
                                   iovec{body_.data(), body_.size()}};
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = parts.size();
        const ssize_t sent = ::sendmsg(stream_.lowest_layer().native_handle(), &message,
                                       MSG_DONTWAIT | MSG_NOSIGNAL);
        return sent > 0 ? static_cast<std::size_t>(sent) : 0;  // errors show when it goes on
    }

    void finish_write(bool sent) {
        head_ = {};
        body_ = {};
        connection_.on_written(sent);
    }

    void finish_read(Code error, std::size_t size) {
        reading_ = false;
        if (ended_) return;
        if (lingering_) {
            discarded_ += size;
            if (error || discarded_ > kLingerBytes) {
                if constexpr (!kTls) end_now();
                return;
            }
            return read();
        }
        if (error) return connection_.on_end();
        last_size_ = size;
        connection_.on_bytes({input_.get(), size});
    }

    void set_timer(Clock::time_point when) {
        timer_set_to_ = when;
        timer_.expires_at(when);
        timer_.async_wait([self = this->shared_from_this()](Code error) {
            const std::scoped_lock lock(self->mutex_);
            if (error || self->ended_) return;
            self->timer_set_to_ = Clock::time_point::max();
            if (self->deadline_ > Clock::now()) {
                if (self->deadline_ != Clock::time_point::max()) self->set_timer(self->deadline_);
            } else if (self->lingering_ || self->shaking_hands_) {
                self->end_now();
            } else {
                self->connection_.on_timeout();
            }
        });
    }

    void close_now(bool politely) {
        if (ended_) return;
        if (hub_.setup.draining || (!politely && !kTls)) return end_now();
        lingering_ = true;
        wake_at(Clock::now() + kLinger);
        if constexpr (kTls) {
            stream_.async_shutdown([self = this->shared_from_this()](Code) { self->end(); });
        } else {
            Code ignored;
            stream_.shutdown(asio::socket_base::shutdown_send, ignored);
            if (!reading_) read();
        }
    }

    void end_now() {
        if (ended_) return;
        ended_ = true;
        timer_.cancel();
        Code ignored;
        stream_.lowest_layer().close(ignored);
        hub_.remove(this);
    }

    Hub& hub_;
    std::mutex mutex_;  // of all that follows
    Stream stream_;
    asio::steady_timer timer_;
    HttpConnection connection_;
    std::unique_ptr<char[]> input_;
    std::size_t input_size_ = 0;
    std::size_t last_size_ = 0;
    std::string head_;
    std::string body_;
    Clock::time_point deadline_ = Clock::time_point::max();
    Clock::time_point timer_set_to_ = Clock::time_point::max();
    std::size_t discarded_ = 0;
    bool on_worker_ = false;   // the thread that moves the connection is not Asio's
    bool sent_whole_ = false;  // by that thread
    bool reading_ = false;
    bool lingering_ = false;
    bool shaking_hands_ = false;
    bool ended_ = false;
};

/// Takes in connections of one kind, one after the other, until it is closed.
template <class Protocol>
class Door : public std::enable_shared_from_this<Door<Protocol>> {
public:
    using Socket = typename Protocol::socket;
    using Welcome = std::function<void(Socket)>;

    Door(asio::io_context& io, Welcome welcome)
        : acceptor(io), pause_(io), welcome_(std::move(welcome)) {}

    void accept() {
        acceptor.async_accept([self = this->shared_from_this()](Code error, Socket socket) {
            if (!self->acceptor.is_open()) return;
            if (!error) {
                self->welcome_(std::move(socket));
                return self->accept();
            }
            // No descriptor left, or a client that went away at once: not for ever.
            self->pause_.expires_after(kAcceptPause);
            self->pause_.async_wait([self](Code stopped) {
                if (!stopped && self->acceptor.is_open()) self->accept();
            });
        });
    }
    void close() {
        Code ignored;
        acceptor.close(ignored);
        pause_.cancel();
    }

    typename Protocol::acceptor acceptor;

private:
    asio::steady_timer pause_;
    Welcome welcome_;
};

std::string peer_of(const Tcp::socket& socket) {
    Code error;
    auto address = socket.remote_endpoint(error).address();
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    }
    return error ? std::string() : address.to_string();
}

tl::unexpected<Error> failure(const std::string& doing, const Code& error) {
    return fail(ErrorCode::IoError, doing + ": " + error.message());
}

Result<> load_certificate(asio::ssl::context& context, const HttpServerOptions& options) {
    Code error;
    if (context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                                asio::ssl::context::no_tlsv1_1,
                            error)) {
        return failure("cannot set up TLS", error);
    }
    SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS);
    if (context.use_certificate_chain_file(options.tls_certificate, error)) {
        return failure("cannot use the certificate " + options.tls_certificate, error);
    }
    if (context.use_private_key_file(options.tls_key, asio::ssl::context::pem, error)) {
        return failure("cannot use the key " + options.tls_key, error);
    }
    return {};
}

}  // namespace

struct HttpServer::State {
    State(HttpServerOptions options, HttpHandler& handler) : hub(std::move(options), handler) {}

    const HttpServerOptions& options() const { return hub.setup.options; }

    Result<> open_tcp() {
        Code error;
        const auto address = asio::ip::make_address(options().host, error);
        if (error) {
            return invalid_argument("\"" + options().host + "\" is no address");
        }
        const Tcp::endpoint endpoint(address, options().port);
        tcp = std::make_shared<Door<Tcp>>(hub.io, [this](Tcp::socket socket) {
            Code ignored;
            ignored = socket.set_option(Tcp::no_delay(true), ignored);
            std::string peer = peer_of(socket);
            if (tls) {
                welcome<TlsStream>(TlsStream(std::move(socket), *tls), std::move(peer));
            } else {
                welcome<Tcp::socket>(std::move(socket), std::move(peer));
            }
        });
        Tcp::acceptor& acceptor = tcp->acceptor;
        const auto step = [&](auto&& action) {
            if (!error) error = action();
        };
        step([&] { return acceptor.open(endpoint.protocol(), error); });
        step([&] { return acceptor.set_option(asio::socket_base::reuse_address(true), error); });
        step([&] { return acceptor.bind(endpoint, error); });
        step([&] { return acceptor.listen(asio::socket_base::max_listen_connections, error); });
        if (!error) port = acceptor.local_endpoint(error).port();
        if (!error) return {};
        return failure("cannot listen on " + options().host + ":" + std::to_string(options().port),
                       error);
    }

    Result<> open_local() {
        BRAID_TRY(const int descriptor, listen_at(options().socket_path));
        owns_socket_file = true;
        local = std::make_shared<Door<Local>>(hub.io, [this](Local::socket socket) {
            welcome<Local::socket>(std::move(socket), "unix");
        });
        Code error;
        if (!local->acceptor.assign(Local(), descriptor, error)) return {};
        ::close(descriptor);
        return failure("cannot listen at " + options().socket_path, error);
    }

    template <class Stream>
    void welcome(Stream stream, std::string peer) {
        ++accepted;
        if (hub.links.size() >= options().max_connections) {
            ++hub.setup.refused;  // and the stream closes
            return;
        }
        const auto link = std::make_shared<LinkOf<Stream>>(hub, std::move(stream), std::move(peer));
        hub.add(link);
        link->start();
    }

    void run() {
        if (tcp) tcp->accept();
        if (local) local->accept();
        thread = std::thread([this] { hub.io.run(); });
    }

    /// Calls `act` on every link, on their thread.
    void for_each_link(void (Link::*act)()) {
        asio::post(hub.io, [this, act] {
            const auto links = hub.links;  // acting may remove them
            // NOLINTNEXTLINE(bugprone-nondeterministic-pointer-iteration-order): any order will do
            for (const auto& [key, link] : links) ((*link).*act)();
        });
    }

    void close_doors() {
        asio::post(hub.io, [this] {
            hub.setup.draining = true;
            if (tcp) tcp->close();
            if (local) local->close();
        });
        if (std::exchange(owns_socket_file, false)) ::unlink(options().socket_path.c_str());
    }

    bool drain(milliseconds patience) {
        const std::scoped_lock lock(draining);
        if (!thread.joinable()) return all_ended;
        close_doors();
        for_each_link(&Link::drain);
        // The doors may have let somebody in just before: the links are counted after that.
        std::promise<void> passed;
        asio::post(hub.io, [&] { passed.set_value(); });
        passed.get_future().wait();
        all_ended = hub.wait_empty(patience);
        if (!all_ended) {
            for_each_link(&Link::give_up);
            hub.wait_empty(kGrace);
        }
        hub.workers.finish();
        for_each_link(&Link::end);
        work.reset();
        thread.join();
        return all_ended;
    }

    /// What goes wrong now has nobody to be told.
    void stop() noexcept {
        try {
            drain(milliseconds(0));
        } catch (...) {  // NOLINT(bugprone-empty-catch)
        }
    }

    Hub hub;
    std::optional<asio::ssl::context> tls;
    std::shared_ptr<Door<Tcp>> tcp;
    std::shared_ptr<Door<Local>> local;
    asio::executor_work_guard<asio::io_context::executor_type> work{hub.io.get_executor()};
    std::uint16_t port = 0;
    bool owns_socket_file = false;
    std::atomic<std::uint64_t> accepted{0};
    std::mutex draining;
    bool all_ended = true;
    std::thread thread;
};

std::optional<std::string_view> IncomingRequest::header(std::string_view name) const noexcept {
    return find_header(headers, name);
}

Result<HttpServer> HttpServer::start(HttpServerOptions options, HttpHandler& handler) {
    if (options.host.empty() && options.socket_path.empty()) {
        return invalid_argument("neither an address nor a socket to listen on");
    }
    if (options.tls_certificate.empty() != options.tls_key.empty()) {
        return invalid_argument("TLS takes both a certificate and a key");
    }
    if (options.workers == 0) {
        options.workers = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
    }
    auto state = std::make_unique<State>(std::move(options), handler);
    const HttpServerOptions& wanted = state->options();
    if (!wanted.tls_certificate.empty()) {
        auto& context = state->tls.emplace(asio::ssl::context::tls_server);
        BRAID_CHECK(load_certificate(context, wanted));
    }
    if (!wanted.host.empty()) BRAID_CHECK(state->open_tcp());
    if (!wanted.socket_path.empty()) BRAID_CHECK(state->open_local());
    state->run();
    return HttpServer(std::move(state));
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpServer::HttpServer(HttpServer&&) noexcept = default;
HttpServer& HttpServer::operator=(HttpServer&& other) noexcept {
    if (state_) state_->stop();
    state_ = std::move(other.state_);
    return *this;
}
HttpServer::~HttpServer() {
    if (state_) state_->stop();
}

std::uint16_t HttpServer::port() const {
    return state_->port;
}

bool HttpServer::drain(std::chrono::milliseconds patience) {
    return state_->drain(patience);
}

HttpServer::Counters HttpServer::counters() const {
    Counters counters;
    {
        const std::scoped_lock lock(state_->hub.mutex);
        counters.connections = state_->hub.open;
    }
    counters.accepted = state_->accepted;
    counters.requests = state_->hub.setup.requests;
    counters.refused = state_->hub.setup.refused;
    return counters;
}

}  // namespace braid::net
