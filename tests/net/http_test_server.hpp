#pragma once

#include <atomic>
#include <cctype>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace braid::net {

/// A request as the test server received it; header names in lower case.
struct ReceivedRequest {
    std::string method;
    std::string target;
    std::map<std::string, std::string> headers;
    std::string body;
};

/// One accepted connection, in the hands of a test's handler.
class TestConnection {
public:
    TestConnection(int socket, std::stop_token stop) : socket_(socket), stop_(std::move(stop)) {}
    ~TestConnection() { ::close(socket_); }
    TestConnection(const TestConnection&) = delete;
    TestConnection& operator=(const TestConnection&) = delete;

    void send_raw(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }

    void reply(int status, std::string_view body, const std::string& more_headers = "") {
        send_raw("HTTP/1.1 " + std::to_string(status) + " Status\r\nContent-Length: " +
                 std::to_string(body.size()) + "\r\n" + more_headers + "\r\n" + std::string(body));
    }

    /// Holds the connection open without a word until the server stops.
    void say_nothing() {
        while (!stop_.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }

    bool stopped() const { return stop_.stop_requested(); }

    /// False when the client closed or the server stops.
    bool receive(ReceivedRequest& request) {
        std::size_t head_end = 0;
        while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos) {
            if (!fill()) return false;
        }
        request = parse_head(buffer_.substr(0, head_end));
        buffer_.erase(0, head_end + 4);
        const auto length = request.headers.find("content-length");
        const std::size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
        while (buffer_.size() < size) {
            if (!fill()) return false;
        }
        request.body = buffer_.substr(0, size);
        buffer_.erase(0, size);
        return true;
    }

private:
    bool fill() {
        pollfd waiting{socket_, POLLIN, 0};
        while (!stop_.stop_requested()) {
            if (::poll(&waiting, 1, 10) == 0) continue;
            char bytes[65536];
            const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
            if (got <= 0) return false;
            buffer_.append(bytes, static_cast<std::size_t>(got));
            return true;
        }
        return false;
    }

    static ReceivedRequest parse_head(const std::string& head) {
        ReceivedRequest request;
        const std::size_t first_space = head.find(' ');
        request.method = head.substr(0, first_space);
        request.target =
            head.substr(first_space + 1, head.find(' ', first_space + 1) - first_space - 1);
        for (std::size_t at = head.find("\r\n"); at != std::string::npos;) {
            const std::size_t end = head.find("\r\n", at + 2);
            const std::string line = head.substr(at + 2, end - at - 2);
            const std::size_t colon = line.find(':');
            std::string name = line.substr(0, colon);
            for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
            std::string value = colon == std::string::npos ? "" : line.substr(colon + 1);
            value.erase(0, value.find_first_not_of(' '));
            request.headers[name] = value;
            at = end;
        }
        return request;
    }

    int socket_;
    std::stop_token stop_;
    std::string buffer_;
};

/// A real HTTP/1.1 server on a free loopback port, one thread per connection. The handler answers
/// one request as it likes and returns whether the connection stays open.
class HttpTestServer {
public:
    using Handler = std::function<bool(const ReceivedRequest&, TestConnection&)>;

    explicit HttpTestServer(Handler handler) : handler_(std::move(handler)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(listener_, 64), 0);
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        acceptor_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
    }

    ~HttpTestServer() {
        acceptor_.request_stop();
        acceptor_.join();
        for (std::jthread& thread : connections_) thread.request_stop();
        connections_.clear();
        ::close(listener_);
    }
    HttpTestServer(const HttpTestServer&) = delete;
    HttpTestServer& operator=(const HttpTestServer&) = delete;

    std::string url(const std::string& path = "") const {
        return "http://127.0.0.1:" + std::to_string(port_) + path;
    }
    int port() const { return port_; }
    int connection_count() const { return connection_count_; }

    std::vector<ReceivedRequest> requests() const {
        const std::scoped_lock lock(mutex_);
        return requests_;
    }

private:
    void accept_all(const std::stop_token& stop) {
        pollfd waiting{listener_, POLLIN, 0};
        while (!stop.stop_requested()) {
            if (::poll(&waiting, 1, 10) <= 0) continue;
            const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (socket < 0) continue;
            ++connection_count_;
            connections_.emplace_back([this, socket](const std::stop_token& stop_one) {
                TestConnection connection(socket, stop_one);
                ReceivedRequest request;
                while (connection.receive(request)) {
                    {
                        const std::scoped_lock lock(mutex_);
                        requests_.push_back(request);
                    }
                    if (!handler_(request, connection)) return;
                }
            });
        }
    }

    Handler handler_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<int> connection_count_ = 0;
    mutable std::mutex mutex_;
    std::vector<ReceivedRequest> requests_;
    std::vector<std::jthread> connections_;  // touched by the acceptor, then by the destructor
    std::jthread acceptor_;
};

}  // namespace braid::net
