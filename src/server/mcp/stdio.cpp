#include "braid/server/mcp/stdio.hpp"

#include <array>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "braid/json/json.hpp"
#include "braid/server/rpc/message.hpp"

namespace braid::server {
namespace {

std::string message_of(int error) {
    return std::generic_category().message(error);
}

/// Writes whole lines, one at a time.
class LineWriter {
public:
    explicit LineWriter(int descriptor) : descriptor_(descriptor) {}

    void write(std::string line) {
        line += '\n';
        const std::lock_guard lock(mutex_);
        std::string_view rest = line;
        while (!rest.empty() && error_ == 0) {
            const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
            if (count >= 0) {
                rest.remove_prefix(static_cast<std::size_t>(count));
            } else if (errno != EINTR) {
                error_ = errno;
            }
        }
    }

    /// 0 while all is well.
    int error() const {
        const std::lock_guard lock(mutex_);
        return error_;
    }

private:
    int descriptor_;
    mutable std::mutex mutex_;
    int error_ = 0;
};

/// Runs the work it is given, in order, on a few threads; the destructor waits for all of it.
class Workers {
public:
    using Job = std::function<void()>;

    Workers(std::size_t threads, std::size_t waiting) : waiting_(waiting) {
        threads_.reserve(threads);
        for (std::size_t i = 0; i < threads; ++i) {
            threads_.emplace_back([this] { run(); });
        }
    }
    Workers(const Workers&) = delete;
    Workers(Workers&&) = delete;
    Workers& operator=(Workers&&) = delete;
    Workers& operator=(const Workers&) = delete;
    ~Workers() {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
        }
        changed_.notify_all();
    }

    /// Waits if too many are waiting already.
    void add(Job job) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return jobs_.size() < waiting_; });
        jobs_.push_back(std::move(job));
        changed_.notify_all();
    }

private:
    void run() {
        while (true) {
            Job job;
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [&] { return ended_ || !jobs_.empty(); });
                if (jobs_.empty()) return;
                job = std::move(jobs_.front());
                jobs_.pop_front();
                changed_.notify_all();
            }
            job();
        }
    }

    std::size_t waiting_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> jobs_;
    bool ended_ = false;
    std::vector<std::jthread> threads_;  // last: joined before the rest is gone
};

/// A pipe that becomes readable once a stop is requested.
class StopSignal {
public:
    explicit StopSignal(const std::stop_token& stop)
        : usable_(::pipe(ends_.data()) == 0), callback_(stop, [this] { close_writer(); }) {}
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;
    StopSignal(StopSignal&&) = delete;
    StopSignal& operator=(StopSignal&&) = delete;
    ~StopSignal() {
        close_writer();
        if (usable_) ::close(ends_[0]);
    }

    int descriptor() const noexcept { return ends_[0]; }

private:
    void close_writer() {
        const std::lock_guard lock(mutex_);
        const int writer = std::exchange(ends_[1], -1);
        if (writer >= 0) ::close(writer);
    }

    std::mutex mutex_;
    std::array<int, 2> ends_{-1, -1};
    bool usable_;
    std::stop_callback<std::function<void()>> callback_;
};

/// Splits what is read into lines of bounded length.
class LineCutter {
public:
    explicit LineCutter(std::size_t limit) : limit_(limit) {}

    /// Calls `take(line)` for each complete line, `refuse()` for each that is too long.
    template <class Take, class Refuse>
    void add(std::string_view bytes, const Take& take, const Refuse& refuse) {
        while (!bytes.empty()) {
            const std::size_t end = bytes.find('\n');
            append(bytes.substr(0, end));
            if (end == std::string_view::npos) return;
            bytes.remove_prefix(end + 1);
            finish(take, refuse);
        }
    }

    template <class Take, class Refuse>
    void finish(const Take& take, const Refuse& refuse) {
        if (too_long_) {
            refuse();
        } else if (line_.find_first_not_of(" \t\r") != std::string::npos) {
            take(line_);
        }
        line_.clear();
        too_long_ = false;
    }

private:
    void append(std::string_view part) {
        if (too_long_ || part.size() > limit_ - line_.size()) {
            too_long_ = true;
            line_.clear();
            line_.shrink_to_fit();
        } else {
            line_ += part;
        }
    }

    std::size_t limit_;
    std::string line_;
    bool too_long_ = false;
};

/// Bytes of the input; nullopt at its end, or once a stop is asked for.
Result<std::optional<std::string_view>> read_some(int descriptor, int stop,
                                                  std::vector<char>& buffer) {
    while (true) {
        std::array<pollfd, 2> watched{{{descriptor, POLLIN, 0}, {stop, POLLIN, 0}}};
        if (::poll(watched.data(), watched.size(), -1) < 0) {
            if (errno == EINTR) continue;
            return fail(ErrorCode::IoError, "waiting for input: " + message_of(errno));
        }
        if (watched[1].revents != 0) return std::nullopt;
        if (watched[0].revents == 0) continue;
        const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
        if (count > 0) return std::string_view(buffer.data(), static_cast<std::size_t>(count));
        if (count == 0) return std::nullopt;
        if (errno != EINTR) {
            return fail(ErrorCode::IoError, "reading input: " + message_of(errno));
        }
    }
}

}  // namespace

Result<> serve_stdio(McpSession& session, const service::Caller& caller,
                     const StdioOptions& options) {
    return serve_stdio([&](std::string_view line) { return session.accept(line, caller); },
                       caller.limits.message_bytes, options);
}

Result<> serve_stdio(const AcceptLine& accept, std::size_t most_bytes,
                     const StdioOptions& options) {
    constexpr std::size_t read_bytes = 65'536;
    LineWriter writer(options.output);
    const auto take = [&](Workers& workers, std::string_view line) {
        McpSession::Accepted accepted = accept(line);
        if (accepted.reply) writer.write(*std::move(accepted.reply));
        if (!accepted.work) return;
        workers.add([&writer, work = std::move(accepted.work)] {
            if (auto reply = work()) writer.write(*std::move(reply));
        });
    };
    const auto refuse = [&] {
        writer.write(json::print(
            rpc_failure({}, {kInvalidRequest,
                             "the line is longer than " + std::to_string(most_bytes) + " bytes",
                             {}})));
    };
    {
        Workers workers(options.workers, options.waiting);
        const StopSignal stop(options.stop);
        LineCutter cutter(most_bytes);
        std::vector<char> buffer(read_bytes);
        const auto take_line = [&](std::string_view line) { take(workers, line); };
        while (writer.error() == 0) {
            BRAID_TRY(const auto bytes, read_some(options.input, stop.descriptor(), buffer));
            if (!bytes) break;
            cutter.add(*bytes, take_line, refuse);
        }
        // A last line may lack its line end; one that was cut off by a stop is not a message.
        if (!options.stop.stop_requested()) cutter.finish(take_line, refuse);
    }
    if (writer.error() == 0 || writer.error() == EPIPE) return {};
    return fail(ErrorCode::IoError, "writing output: " + message_of(writer.error()));
}

}  // namespace braid::server
