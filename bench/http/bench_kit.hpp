#pragma once

// What the benchmarks over HTTP share: generated input, a client, and `braid serve` to ask.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "braid/database.hpp"
#include "braid/json/json.hpp"

namespace braid::bench {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kDimension = 384;
constexpr std::size_t kVocabulary = 20'000;

[[noreturn]] inline void die(const std::string& message) {
    std::cerr << "bench: " << message << "\n";
    std::_Exit(1);
}

template <class T>
T must(Result<T> result) {
    if (!result) die(result.error().message);
    return *std::move(result);
}

/// Words by Zipf's law, vectors on the unit sphere. Fixed seed: two runs measure the same input.
class Corpus {
public:
    Corpus() {
        double sum = 0;
        cumulative_.reserve(kVocabulary);
        for (std::size_t rank = 1; rank <= kVocabulary; ++rank) {
            cumulative_.push_back(sum += 1.0 / static_cast<double>(rank));
        }
    }
    std::string text(std::size_t words) {
        std::uniform_real_distribution<double> uniform(0, cumulative_.back());
        std::string out;
        for (std::size_t i = 0; i < words; ++i) {
            auto rank = static_cast<std::size_t>(
                std::ranges::lower_bound(cumulative_, uniform(rng_)) - cumulative_.begin());
            out += i == 0 ? "x" : " x";
            for (; rank > 0; rank /= 20) out += "bcdfghjklmnpqrtvwxzq"[rank % 20];
        }
        return out;
    }
    std::vector<float> vector() {
        std::normal_distribution<float> normal;
        std::vector<float> out(kDimension);
        double norm = 0;
        for (float& x : out) {
            x = normal(rng_);
            norm += static_cast<double>(x) * static_cast<double>(x);
        }
        for (float& x : out) x /= static_cast<float>(std::sqrt(norm));
        return out;
    }

private:
    std::mt19937 rng_{7};
    std::vector<double> cumulative_;
};

/// Answers one request after the other on a connection that stays open.
class Connection {
public:
    explicit Connection(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        if (socket_ < 0) die("cannot open a socket");
        const int on = 1;
        ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
            die("cannot connect");
        }
    }
    Connection(Connection&& other) noexcept
        : socket_(std::exchange(other.socket_, -1)),
          bytes_(std::move(other.bytes_)),
          buffer_(std::move(other.buffer_)) {}
    Connection& operator=(Connection&&) = delete;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() {
        if (socket_ >= 0) ::close(socket_);
    }

    /// The length of the answer's body.
    std::size_t ask(const std::string& request) {
        for (std::size_t at = 0; at < request.size();) {
            const ssize_t sent =
                ::send(socket_, request.data() + at, request.size() - at, MSG_NOSIGNAL);
            if (sent <= 0) die("the server went away");
            at += static_cast<std::size_t>(sent);
        }
        std::size_t end = 0;
        while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) fill();
        if (!buffer_.starts_with("HTTP/1.1 200")) die("answered " + buffer_.substr(0, 300));
        const std::size_t length = buffer_.find("Content-Length: ");
        const std::size_t size = std::strtoul(buffer_.c_str() + length + 16, nullptr, 10);
        while (buffer_.size() < end + 4 + size) fill();
        buffer_.erase(0, end + 4 + size);
        return size;
    }

private:
    void fill() {
        const ssize_t got = ::recv(socket_, bytes_.data(), bytes_.size(), 0);
        if (got <= 0) die("the server went away");
        buffer_.append(bytes_.data(), static_cast<std::size_t>(got));
    }

    int socket_;
    std::vector<char> bytes_ = std::vector<char>(65536);  // clients compute on the server's cores
    std::string buffer_;
};

/// `braid serve` on a free port.
class Server {
public:
    Server(const std::string& data, std::span<char* const> flags) {
        std::vector<const char*> words{BRAID_PROGRAM, "--data", data.c_str(), "serve", "--port",
                                       "0",           "--json", "--quiet",    "--log", "none"};
        words.insert(words.end(), flags.begin(), flags.end());
        words.push_back(nullptr);
        std::array<int, 2> out{};
        if (::pipe(out.data()) != 0) die("no pipe");
        process_ = ::fork();
        if (process_ == 0) {
            ::dup2(out[1], STDOUT_FILENO);
            ::close(out[0]);
            ::execv(BRAID_PROGRAM, const_cast<char* const*>(words.data()));
            ::_exit(127);
        }
        ::close(out[1]);
        std::string line;
        for (char c = 0; ::read(out[0], &c, 1) == 1 && c != '\n';) line += c;
        const Value facts = must(json::parse(line));
        port_ = static_cast<int>(facts.find("port")->as_int());
        output_ = out[0];
        if (::clock_getcpuclockid(process_, &clock_) != 0) die("no clock of the server");
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    Server(Server&&) = delete;
    Server& operator=(Server&&) = delete;
    ~Server() {
        ::kill(process_, SIGTERM);
        ::waitpid(process_, nullptr, 0);
        ::close(output_);
    }

    int port() const { return port_; }
    double cpu_seconds() const {
        timespec time{};
        ::clock_gettime(clock_, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    }
    double resident_mb() const {
        std::ifstream file("/proc/" + std::to_string(process_) + "/statm");
        double total = 0;
        double resident = 0;
        file >> total >> resident;
        return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
    }

private:
    pid_t process_ = -1;
    int port_ = 0;
    int output_ = -1;
    clockid_t clock_{};
};

inline double own_cpu_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

inline double percentile(std::vector<double> values, double share) {
    std::ranges::sort(values);
    const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
    return values[at];
}

inline double micros_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

inline const char* verdict(bool met) {
    return met ? "met" : "NOT met";
}

}  // namespace braid::bench
