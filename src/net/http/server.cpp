#include "braid/net/http/server.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <openssl/ssl.h>
#include <unistd.h>

#include "braid/net/client/header.hpp"
#include "braid/net/http/link.hpp"
#include "braid/net/http/socket_file.hpp"

namespace braid::net {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;
using std::chrono::milliseconds;

constexpr milliseconds kAcceptPause{100};
/// What requests that were told to stop get for doing so.
constexpr milliseconds kGrace{10'000};

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
            return invalid_argument("\"" + options().host + "\" is not an IP address");
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
        const auto link = make_link(hub, std::move(stream), std::move(peer));
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
        return invalid_argument("nothing to listen on: give a host and port, or a socket");
    }
    if (options.tls_certificate.empty() != options.tls_key.empty()) {
        return invalid_argument("TLS needs both a certificate and a key");
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
