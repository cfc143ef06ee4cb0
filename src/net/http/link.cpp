#include "braid/net/http/link.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <sys/socket.h>
#include <sys/uio.h>

namespace braid::net {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kSmallRead = std::size_t{16} << 10;
constexpr std::size_t kLargeRead = std::size_t{64} << 10;
/// How long, and for how much, a client that still sends is listened to after the last answer.
constexpr std::chrono::milliseconds kLinger{1000};
constexpr std::size_t kLingerBytes = std::size_t{1} << 20;

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

}  // namespace

std::shared_ptr<Link> make_link(Hub& hub, Tcp::socket stream, std::string peer) {
    return std::make_shared<LinkOf<Tcp::socket>>(hub, std::move(stream), std::move(peer));
}
std::shared_ptr<Link> make_link(Hub& hub, TlsStream stream, std::string peer) {
    return std::make_shared<LinkOf<TlsStream>>(hub, std::move(stream), std::move(peer));
}
std::shared_ptr<Link> make_link(Hub& hub, Local::socket stream, std::string peer) {
    return std::make_shared<LinkOf<Local::socket>>(hub, std::move(stream), std::move(peer));
}

}  // namespace braid::net
