// What HTTP costs: hybrid top-10 over 10,000 chunks of 384 dimensions with given vectors, through
// `braid serve` and through the library, in turns, on the same machine and the same files.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "braid/database.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/request_json.hpp"

namespace {

using namespace braid;  // NOLINT(google-build-using-namespace): a program of its own
using Clock = std::chrono::steady_clock;

constexpr std::size_t kChunks = 10'000;
constexpr std::size_t kDimension = 384;
constexpr std::size_t kWords = 60;
constexpr std::size_t kVocabulary = 20'000;
constexpr std::size_t kQueries = 500;
constexpr std::size_t kConnections = 16;
constexpr std::size_t kIdle = 1000;
constexpr int kRounds = 5;

[[noreturn]] void die(const std::string& message) {
    std::cerr << "http_bench: " << message << "\n";
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

double own_cpu_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double percentile(std::vector<double> values, double share) {
    std::ranges::sort(values);
    const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
    return values[at];
}

double micros_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

/// One way of asking, over all rounds.
struct Figures {
    std::vector<double> p50, p99, cpu, qps;
    void add(const std::vector<double>& micros, double cpu_seconds, double seconds) {
        const auto count = static_cast<double>(micros.size());
        p50.push_back(percentile(micros, 0.5));
        p99.push_back(percentile(micros, 0.99));
        cpu.push_back(cpu_seconds * 1e6 / count);
        qps.push_back(count / seconds);
    }
    void print(const char* name) const {
        std::printf("%-28s %9.0f %9.0f %9.0f %11.0f\n", name, percentile(p50, 0.5),
                    percentile(p99, 0.5), percentile(qps, 0.5), percentile(cpu, 0.5));
    }
};

void ask_library(const Database& database, const std::vector<Request>& requests, Figures* figures) {
    std::vector<double> micros;
    micros.reserve(requests.size());
    const double cpu = own_cpu_seconds();
    const auto begin = Clock::now();
    for (const Request& request : requests) {
        const auto start = Clock::now();
        if (must(database.retrieve(request)).hits.size() != 10) die("not ten hits");
        micros.push_back(micros_since(start));
    }
    if (figures != nullptr) {
        figures->add(micros, own_cpu_seconds() - cpu, micros_since(begin) / 1e6);
    }
}

void ask_server(const Server& server, const std::vector<std::string>& requests,
                std::size_t connections, Figures* figures) {
    std::vector<std::vector<double>> micros(connections);
    std::vector<Connection> open;
    open.reserve(connections);
    for (std::size_t i = 0; i < connections; ++i) open.emplace_back(server.port());
    const double cpu = server.cpu_seconds();
    const auto begin = Clock::now();
    std::vector<std::thread> threads;
    threads.reserve(connections);
    for (std::size_t i = 0; i < connections; ++i) {
        threads.emplace_back([&, i] {
            // Every connection asks all queries, each from another one on.
            for (std::size_t q = 0; q < requests.size(); ++q) {
                const auto start = Clock::now();
                open[i].ask(requests[(q + i * 31) % requests.size()]);
                micros[i].push_back(micros_since(start));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    const double seconds = micros_since(begin) / 1e6;
    std::vector<double> all;
    for (const auto& list : micros) all.insert(all.end(), list.begin(), list.end());
    if (figures != nullptr) figures->add(all, server.cpu_seconds() - cpu, seconds);
}

std::string http_request(const Request& request) {
    const std::string body = json::print(wire::request_to_value(request));
    return "POST /v1/retrieve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
           "Content-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

void fill(const std::string& data, Corpus& corpus) {
    auto database = must(Database::open(data));
    Schema schema;
    schema.vectors.embedder = "external";
    schema.vectors.dimension = kDimension;
    if (const auto made = database.create_collection("default", schema); !made) {
        die(made.error().message);
    }
    for (std::size_t at = 0; at < kChunks; at += 1000) {
        std::vector<Chunk> chunks(1000);
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            chunks[i].chunk_id = chunks[i].document_id = "chunk-" + std::to_string(at + i);
            chunks[i].content = corpus.text(kWords);
            chunks[i].vector = corpus.vector();
        }
        must(database.add("default", std::move(chunks)));
    }
}

double idle_connections_mb(const Server& server) {
    const std::string request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const double before = server.resident_mb();
    std::vector<Connection> idle;
    idle.reserve(kIdle);
    for (std::size_t i = 0; i < kIdle; ++i) {
        idle.emplace_back(server.port());
        idle.back().ask(request);
    }
    return server.resident_mb() - before;
}

const char* verdict(bool met) {
    return met ? "met" : "NOT met";
}

void measure(std::span<char* const> flags) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    std::string folder = (std::filesystem::temp_directory_path() / "braid-http-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) die("no folder for temporary files");
    const std::string data = folder + "/data";
    Corpus corpus;
    fill(data, corpus);
    std::vector<Request> requests(kQueries);
    std::vector<std::string> texts;
    texts.reserve(kQueries);
    for (Request& request : requests) {
        request.query = corpus.text(4);
        request.query_embedding = corpus.vector();
        request.top_k = 10;
        texts.push_back(http_request(request));
    }
    Figures library;
    Figures alone;
    Figures many;
    double idle_mb = 0;
    {
        const Server server(data, flags);
        OpenOptions reading;
        reading.read_only = true;
        const auto database = must(Database::open(data, reading));
        ask_library(database, requests, nullptr);
        ask_server(server, texts, 1, nullptr);
        for (int round = 0; round < kRounds; ++round) {
            ask_library(database, requests, &library);
            ask_server(server, texts, 1, &alone);
            ask_server(server, texts, kConnections, &many);
        }
        idle_mb = idle_connections_mb(server);
    }
    std::filesystem::remove_all(folder);
    std::printf("Hybrid top-10, %zu chunks x %zu, given vectors; medians of %d rounds\n\n", kChunks,
                kDimension, kRounds);
    std::printf("%-28s %9s %9s %9s %11s\n", "", "p50 us", "p99 us", "per s", "CPU us each");
    library.print("library");
    alone.print("HTTP, 1 connection");
    many.print("HTTP, 16 connections");
    const double more = percentile(alone.cpu, 0.5) - percentile(library.cpu, 0.5);
    const double more_many = percentile(many.cpu, 0.5) - percentile(library.cpu, 0.5);
    const double ratio = percentile(many.p99, 0.5) / percentile(library.p50, 0.5);
    std::printf("\nserver CPU above the library's  %6.0f us (16 connections: %.0f)   bar 150: %s\n",
                more, more_many, verdict(std::max(more, more_many) <= 150));
    std::printf("p99 of 16 / p50 of the library  %6.1f                         bar 20: %s\n", ratio,
                verdict(ratio <= 20));
    std::printf("1,000 idle connections          %6.1f MB                      bar 50: %s\n",
                idle_mb, verdict(idle_mb < 50));
}

}  // namespace

/// Arguments are further flags of `braid serve`.
int main(int argc, char** argv) {
    try {
        measure(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "http_bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
