#pragma once

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace braid::testing {

struct RawResponse {
    int status = 0;
    std::string head;
    std::string body;

    bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
};

/// A socket that sends exactly what a test says. Reading gives up after 20 seconds, so that a
/// server that hangs fails its test.
class RawClient {
public:
    explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        connect(reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
    explicit RawClient(const std::string& path)
        : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, path.data(), path.size());
        connect(reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
    RawClient(RawClient&& other) noexcept
        : socket_(std::exchange(other.socket_, -1)),
          connected_(other.connected_),
          buffer_(std::move(other.buffer_)) {}
    RawClient& operator=(RawClient&&) = delete;
    RawClient(const RawClient&) = delete;
    RawClient& operator=(const RawClient&) = delete;
    ~RawClient() { close(); }

    bool connected() const { return connected_; }
    void close() {
        if (socket_ >= 0) ::close(std::exchange(socket_, -1));
    }
    /// Closes so that the other side sees a broken connection.
    void reset() {
        const linger now{1, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close();
    }
    void finish_sending() { ::shutdown(socket_, SHUT_WR); }

    /// False if the other side went away.
    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }

    /// nullopt if the connection ends before a whole answer, or none comes. `head_only`: the
    /// answer to HEAD.
    std::optional<RawResponse> read_response(bool head_only = false) {
        std::size_t end = 0;
        while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
            if (!fill()) return std::nullopt;
        }
        RawResponse response;
        response.head = buffer_.substr(0, end + 2);
        buffer_.erase(0, end + 4);
        if (!response.head.starts_with("HTTP/1.1 ")) return std::nullopt;
        response.status = static_cast<int>(std::strtol(response.head.c_str() + 9, nullptr, 10));
        const std::size_t length = response.head.find("Content-Length: ");
        const std::size_t size =
            length == std::string::npos || head_only
                ? 0
                : std::strtoul(response.head.c_str() + length + 16, nullptr, 10);
        while (buffer_.size() < size) {
            if (!fill()) return std::nullopt;
        }
        response.body = buffer_.substr(0, size);
        buffer_.erase(0, size);
        return response;
    }

    /// Whether the other side closes, with nothing more to say.
    bool ends() {
        while (fill()) {
        }
        return !hung_ && buffer_.empty();
    }
    bool hung() const { return hung_; }

private:
    void connect(const sockaddr* address, socklen_t size) {
        if (socket_ < 0) return;
        const timeval patience{20, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        connected_ = ::connect(socket_, address, size) == 0;
    }
    bool fill() {
        char bytes[65536];
        const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) hung_ = true;
        if (got <= 0) return false;
        buffer_.append(bytes, static_cast<std::size_t>(got));
        return true;
    }

    int socket_;
    bool connected_ = false;
    bool hung_ = false;
    std::string buffer_;
};

}  // namespace braid::testing
