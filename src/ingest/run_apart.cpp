#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "braid/ingest/pdf.hpp"

namespace braid::ingest {
namespace {

/// The two ends of a pipe; closes whichever is still open.
struct Pipe {
    int read = -1;
    int write = -1;

    Pipe() = default;
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        close_read();
        close_write();
    }
    bool open(bool as_socket) {
        std::array<int, 2> ends{};
        const int failed = as_socket
                               ? ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data())
                               : ::pipe2(ends.data(), O_CLOEXEC);
        if (failed != 0) return false;
        read = ends[0];
        write = ends[1];
        return true;
    }
    void close_read() {
        if (read >= 0) ::close(read);
        read = -1;
    }
    void close_write() {
        if (write >= 0) ::close(write);
        write = -1;
    }
};

/// In the child: nothing here allocates or locks.
[[noreturn]] void become(char* const* arguments, const Pipe& in, const Pipe& out,
                         const Pipe& status, const rlimit& seconds, const rlimit& memory) {
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    const rlimit none{0, 0};
    const bool ready =
        ::dup2(in.read, 0) >= 0 && ::dup2(out.write, 1) >= 0 && ::dup2(nothing, 2) >= 0 &&
        ::setrlimit(RLIMIT_CPU, &seconds) == 0 && ::setrlimit(RLIMIT_AS, &memory) == 0 &&
        ::setrlimit(RLIMIT_CORE, &none) == 0 && ::setrlimit(RLIMIT_FSIZE, &none) == 0;
    if (ready) ::execvp(arguments[0], arguments);
    const int error = errno;
    const ssize_t ignored = ::write(status.write, &error, sizeof(error));
    ::_exit(ignored >= 0 ? 127 : 126);
}

class Child {
public:
    explicit Child(pid_t id) : id_(id) {}
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (id_ > 0) {
            ::kill(id_, SIGKILL);
            wait();
        }
    }
    int wait() {
        int status = -1;
        while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
        }
        id_ = 0;
        return status;
    }

private:
    pid_t id_;
};

}  // namespace

Result<std::string> run_apart(const std::vector<std::string>& command, std::string_view input,
                              const ChildLimits& limits) {
    Pipe in;
    Pipe out;
    Pipe status;
    // A socket, because writing to a pipe that nobody reads any more would end this process.
    if (command.empty() || !in.open(true) || !out.open(false) || !status.open(false)) {
        return fail(ErrorCode::IoError,
                    "cannot create a pipe to a program: " + std::string(std::strerror(errno)));
    }
    std::vector<std::string> words = command;
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const auto whole_seconds = static_cast<rlim_t>(limits.time.count());
    const rlimit seconds{whole_seconds, whole_seconds + 1};
    const rlimit memory{limits.memory_bytes, limits.memory_bytes};
    const pid_t id = ::fork();
    if (id < 0) {
        return fail(ErrorCode::IoError,
                    "cannot start a process: " + std::string(std::strerror(errno)));
    }
    if (id == 0) become(arguments.data(), in, out, status, seconds, memory);
    Child child(id);
    in.close_read();
    out.close_write();
    status.close_write();

    int error = 0;
    if (::read(status.read, &error, sizeof(error)) == static_cast<ssize_t>(sizeof(error))) {
        return fail(ErrorCode::NotFound,
                    "the program " + command.front() + " cannot be run: " + std::strerror(error));
    }
    std::string printed;
    std::array<char, 65536> buffer{};
    const auto deadline = std::chrono::steady_clock::now() + limits.time;
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) {
            return invalid_argument(command.front() + " took longer than " +
                                    std::to_string(limits.time.count()) + " s");
        }
        std::array<pollfd, 2> waits{{{out.read, POLLIN, 0}, {in.write, POLLOUT, 0}}};
        if (::poll(waits.data(), in.write >= 0 ? 2 : 1, static_cast<int>(left.count())) < 0) {
            if (errno == EINTR) continue;
            return fail(ErrorCode::IoError,
                        std::string("waiting for a program: ") + std::strerror(errno));
        }
        if (in.write >= 0 && waits[1].revents != 0) {
            const ssize_t sent =
                ::send(in.write, input.data(), std::min(input.size(), buffer.size()),
                       MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent > 0) input.remove_prefix(static_cast<std::size_t>(sent));
            const bool broken = sent < 0 && errno != EAGAIN && errno != EINTR;
            if (input.empty() || broken) in.close_write();
        }
        if (waits[0].revents == 0) continue;
        const ssize_t got = ::read(out.read, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        printed.append(buffer.data(), static_cast<std::size_t>(got));
        if (printed.size() > limits.output_bytes) {
            return fail(ErrorCode::ResourceExhausted, command.front() + " printed more than " +
                                                          std::to_string(limits.output_bytes) +
                                                          " bytes");
        }
    }
    const int ended = child.wait();
    if (!WIFEXITED(ended))
        return invalid_argument(command.front() + " crashed on it or was killed");
    if (WEXITSTATUS(ended) != 0) return invalid_argument(command.front() + " cannot read it");
    return printed;
}

}  // namespace braid::ingest
