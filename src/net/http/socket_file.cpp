#include "braid/net/http/socket_file.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace braid::net {
namespace {

/// Closes its descriptor unless it is released.
class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    Descriptor(Descriptor&&) = delete;
    Descriptor& operator=(Descriptor&&) = delete;

    int get() const noexcept { return number_; }
    int release() noexcept { return std::exchange(number_, -1); }

private:
    int number_;
};

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

const sockaddr* generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

tl::unexpected<Error> failure(const std::string& path) {
    return fail(ErrorCode::IoError,
                "cannot listen at " + path + ": " + std::generic_category().message(errno));
}

}  // namespace

std::size_t max_socket_path() noexcept {
    return sizeof(sockaddr_un::sun_path) - 1;
}

bool is_listening(const std::string& path) {
    return listener_at(path).has_value();
}

std::optional<uid_t> listener_at(const std::string& path) {
    if (path.empty() || path.size() > max_socket_path()) return std::nullopt;
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = address_of(path);
    if (socket.get() < 0 || ::connect(socket.get(), generic(address), sizeof address) != 0) {
        return std::nullopt;
    }
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
    return peer.uid;
}

Result<int> listen_at(const std::string& path) {
    if (path.empty() || path.size() > max_socket_path()) {
        return invalid_argument("the path of a socket may have " +
                                std::to_string(max_socket_path()) + " bytes, got " + path);
    }
    struct stat found {};
    if (::lstat(path.c_str(), &found) == 0) {
        if (!S_ISSOCK(found.st_mode)) {
            return fail(ErrorCode::AlreadyExists, path + " exists and is not a socket");
        }
        if (is_listening(path)) {
            return fail(ErrorCode::Locked, "another server listens at " + path);
        }
        if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failure(path);
    }
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un address = address_of(path);
    // Until listen() nobody can connect, so that nobody comes before the mode is set.
    if (socket.get() < 0 || ::bind(socket.get(), generic(address), sizeof address) != 0 ||
        ::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
        return failure(path);
    }
    return socket.release();
}

}  // namespace braid::net
