#include "braid/cli/commands/serve.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "braid/cli/commands/input.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/config/embedders.hpp"
#include "braid/cli/config/socket_place.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/output_file.hpp"
#include "braid/cli/view/terminal.hpp"
#include "braid/core/clock.hpp"
#include "braid/net/http/server.hpp"
#include "braid/server/auth/api_keys.hpp"
#include "braid/server/http/app.hpp"
#include "braid/service/log.hpp"

namespace braid::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kMaxPort = 65'535;
constexpr std::int64_t kHour = 3'600'000;  // milliseconds

constexpr auto kServeFlags = std::to_array<FlagSpec>({
    {.name = "port",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "TCP port (default: 27243); 0: any free"},
    {.name = "host",
     .kind = FlagKind::Text,
     .value = "ADDRESS",
     .help = "address to listen on (default: 127.0.0.1)"},
    {.name = "socket",
     .kind = FlagKind::Text,
     .value = "PATH",
     .help = "a Unix socket, besides the one in the database"},
    {.name = "key-file",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "API keys (see \"braid help keys add\")"},
    {.name = "tls-cert", .kind = FlagKind::Text, .value = "FILE", .help = "certificate chain, PEM"},
    {.name = "tls-key", .kind = FlagKind::Text, .value = "FILE", .help = "its private key, PEM"},
    {.name = "metrics-port",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "serve only /metrics on this port"},
    {.name = "allow-writes", .help = "let agents store and forget through /mcp"},
    {.name = "allow-host",
     .kind = FlagKind::List,
     .value = "NAME",
     .help = "a host name of this server; may be repeated"},
    {.name = "allow-origin",
     .kind = FlagKind::List,
     .value = "URL",
     .help = "origin of web pages that may call; may be repeated"},
    {.name = "rate",
     .kind = FlagKind::Number,
     .value = "N",
     .help = "requests per second and key (default: no limit)"},
    {.name = "workers",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "requests computed at the same time"},
    {.name = "memory-mb",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "for all requests and answers together (default: 512)"},
    {.name = "answer-mb",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "text in one answer, or one batch (default: 64)"},
    {.name = "max-deadline-ms",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "of one request (default: 30000)"},
    {.name = "drain-ms",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "for running requests at the end (default: 30000)"},
    {.name = "log",
     .kind = FlagKind::Text,
     .value = "FORMAT",
     .help = "a line per request: human (default), json or none",
     .choices = "human|json|none"},
    {.name = "log-texts", .help = "query texts in the log too"},
    {.name = "slow-ms",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "log requests that took longer, with details"},
    {.name = "audit",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "append who saw which chunks, as JSON lines"},
});

/// Whole lines on standard error, whoever writes them.
service::LineSink error_lines() {
    return [mutex = std::make_shared<std::mutex>()](std::string_view line) {
        const std::string whole = std::string(line) + "\n";
        const std::scoped_lock lock(*mutex);
        std::fwrite(whole.data(), 1, whole.size(), stderr);
    };
}

/// Whole lines at the end of a file.
Result<service::LineSink> file_lines(const std::string& path) {
    struct LineFile {
        std::mutex mutex;
        std::ofstream stream;
    };
    BRAID_CHECK(make_private_file(path));
    const auto file = std::make_shared<LineFile>();
    file->stream.open(path, std::ios::app);
    if (!file->stream) return fail(ErrorCode::IoError, "cannot write " + path);
    return service::LineSink([file](std::string_view line) {
        const std::scoped_lock lock(file->mutex);
        file->stream << line << "\n" << std::flush;
    });
}

/// What the flags say, else the configuration.
class ServeSettings {
public:
    explicit ServeSettings(const Session& session) : session_(session) {}

    std::string text(std::string_view flag, std::string_view setting) const {
        return session_.arguments.text_or(flag, session_.settings.text(setting));
    }
    Result<std::int64_t> integer(std::string_view flag, std::int64_t max,
                                 std::int64_t otherwise) const {
        BRAID_TRY(const auto given, session_.arguments.integer(flag, 0, max));
        return given.value_or(otherwise);
    }
    Result<std::int64_t> port(std::string_view flag, std::string_view setting) const {
        return integer(flag, kMaxPort,
                       static_cast<std::int64_t>(session_.settings.number(setting)));
    }

    Result<net::HttpServerOptions> transport() const {
        net::HttpServerOptions options;
        options.host = text("host", "serve.host");
        if (options.host == "localhost") options.host = "127.0.0.1";
        BRAID_TRY(const auto port_number, port("port", "serve.port"));
        options.port = static_cast<std::uint16_t>(port_number);
        options.tls_certificate = text("tls-cert", "serve.tls_cert");
        options.tls_key = text("tls-key", "serve.tls_key");
        BRAID_TRY(const auto workers, integer("workers", 1024, 0));
        options.workers = static_cast<std::size_t>(workers);
        return options;
    }

    Result<server::HttpAppOptions> app() const {
        const Arguments& arguments = session_.arguments;
        server::HttpAppOptions options;
        options.service = service_options(session_.settings);
        if (const std::string path = text("key-file", "serve.key_file"); !path.empty()) {
            BRAID_TRY(const std::string json, read_input(path));
            auto keys = server::KeyRing::parse(json);
            if (!keys) return fail(path, std::move(keys).error());
            options.keys = *std::move(keys);
        }
        options.allow_writes = arguments.has("allow-writes");
        options.version = BRAID_VERSION;
        options.hosts = arguments.list("allow-host");
        options.origins = arguments.list("allow-origin");
        BRAID_TRY(const Value rate, arguments.value(*rate_flag()));
        if (rate.is_number()) options.requests_per_second = rate.as_double();
        BRAID_TRY(const auto deadline, integer("max-deadline-ms", kHour, 30'000));
        options.max_deadline = milliseconds(deadline);
        BRAID_CHECK(add_memory(options));
        BRAID_CHECK(add_logs(options));
        return options;
    }

private:
    static const FlagSpec* rate_flag() {
        return std::ranges::find(kServeFlags, std::string_view("rate"), &FlagSpec::name);
    }

    Result<std::size_t> mebibytes(std::string_view flag, std::string_view setting) const {
        constexpr std::int64_t most = 1'000'000'000;
        BRAID_TRY(const auto given, session_.arguments.integer(flag, 1, most));
        const auto configured = static_cast<std::int64_t>(session_.settings.number(setting));
        return static_cast<std::size_t>(given.value_or(configured)) << 20U;
    }

    /// One message must find room in what there is for all.
    Result<> add_memory(server::HttpAppOptions& options) const {
        BRAID_TRY(const std::size_t memory, mebibytes("memory-mb", "serve.memory_mb"));
        BRAID_TRY(const std::size_t answer, mebibytes("answer-mb", "serve.answer_mb"));
        options.memory = std::make_shared<ByteBudget>(memory);
        service::Limits& limits = options.limits;
        limits.answer_bytes = std::min(answer, memory / 4);
        limits.message_bytes = std::min(limits.message_bytes, memory / 4);
        limits.bulk_bytes = std::min(limits.bulk_bytes, memory / 4);
        return {};
    }

    Result<> add_logs(server::HttpAppOptions& options) const {
        const Arguments& arguments = session_.arguments;
        const std::string format = arguments.text_or("log", "human");
        if (format != "none" && !session_.quiet()) {
            options.log = error_lines();
        }
        options.log_format =
            format == "json" ? service::LogFormat::Json : service::LogFormat::Human;
        options.log_texts = arguments.has("log-texts");
        BRAID_TRY(const auto slow, integer("slow-ms", kHour, 0));
        options.slow_query = milliseconds(slow);
        if (const auto path = arguments.text("audit")) {
            BRAID_TRY(options.audit, file_lines(*path));
        }
        return {};
    }

    const Session& session_;
};

/// What happens in the database, among the lines of the requests.
LogSink database_log(const server::HttpAppOptions& options) {
    return [sink = options.log, format = options.log_format](const LogEvent& event) {
        if (!sink || event.level < LogEvent::Level::Warning) return;
        const service::LogEntry entry{event.level, event.name,
                                      Object{{"message", Value(event.message)}}};
        sink(service::log_line(format, entry, core::system_now()));
    };
}

/// As many connections as the system lets this process have.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

void wait_for(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait(lock, stop, [] { return false; });
}

/// Everything that listens, and the app behind it.
class Serving {
public:
    Serving(Session& session, server::HttpApp& app, const ServeOptions& wishes)
        : session_(session), app_(app), wishes_(wishes) {}

    Result<> start(net::HttpServerOptions options) {
        // Before the first request: the app asks for figures as soon as somebody asks it.
        app_.watch([this] { return counters(); });
        if (!session_.clustered()) {
            BRAID_TRY(options.socket_path, choose_socket(session_.data()));
        }
        auto listening = listen(options, app_);
        if (!listening && wishes_.any_port && options.port != 0) {
            options.port = 0;
            listening = listen(options, app_);
        }
        BRAID_CHECK(listening);
        const net::HttpServerOptions given = options;
        main_.store(servers_.front().get());
        if (const auto path = session_.arguments.text("socket")) {
            options.host.clear();
            options.socket_path = *path;
            BRAID_CHECK(listen(options, app_));
        }
        BRAID_TRY(const auto port,
                  ServeSettings(session_).port("metrics-port", "serve.metrics_port"));
        if (port > 0) {
            net::HttpServerOptions metrics;
            metrics.host = given.host;
            metrics.port = static_cast<std::uint16_t>(port);
            metrics.workers = 1;
            metrics.max_connections = 100;
            metrics.max_body_bytes = 0;
            BRAID_CHECK(listen(metrics, app_.metrics_handler()));
        }
        announce(given, port);
        return {};
    }

    void stop(milliseconds patience) {
        app_.drain();
        bool all = true;
        for (const auto& server : servers_) all = server->drain(patience) && all;
        if (!session_.clustered()) forget_socket(session_.data());
        if (!all) session_.warn("requests that were still running were stopped");
    }

private:
    Result<> listen(const net::HttpServerOptions& options, net::HttpHandler& handler) {
        BRAID_TRY(auto server, net::HttpServer::start(options, handler));
        servers_.push_back(std::make_unique<net::HttpServer>(std::move(server)));
        return {};
    }

    net::HttpServer::Counters counters() const {
        const net::HttpServer* const server = main_.load();
        return server != nullptr ? server->counters() : net::HttpServer::Counters{};
    }

    void announce(const net::HttpServerOptions& options, std::int64_t metrics_port) const {
        const bool v6 = options.host.find(':') != std::string::npos;
        const std::string host = v6 ? "[" + options.host + "]" : options.host;
        const std::uint16_t port = servers_.front()->port();
        const std::string url = (options.tls_certificate.empty() ? "http://" : "https://") + host +
                                ":" + std::to_string(port);
        session_.note("listening on " + url);
        session_.note("serving " + plain(session_.place()) +
                      ": the page at /, the reference at /docs; Ctrl-C stops");
        const bool everywhere = options.host == "0.0.0.0" || options.host == "::";
        const std::string page =
            everywhere ? url.substr(0, url.find("//") + 2) + "localhost:" + std::to_string(port)
                       : url;
        app_.announce(page);
        if (wishes_.listening) wishes_.listening(page);
        if (!session_.json()) return;
        session_.out.json(Object{{"listening", Value(url)},
                                 {"port", port},
                                 {"socket", Value(options.socket_path)},
                                 {"metrics_port", metrics_port > 0 ? Value(metrics_port) : Value()},
                                 {"data", Value(session_.place())},
                                 {"process", static_cast<std::int64_t>(::getpid())}});
        session_.out.flush();
    }

    Session& session_;
    server::HttpApp& app_;
    const ServeOptions& wishes_;
    std::vector<std::unique_ptr<net::HttpServer>> servers_;
    std::atomic<const net::HttpServer*> main_{nullptr};
};

/// Loads the models that collections use before the first question needs them. Endpoints of others
/// are not asked.
void warm(const Database& database, const std::stop_token& stop) {
    const auto collections = database.collections({});
    if (!collections) return;
    for (const CollectionInfo& info : *collections) {
        if (stop.stop_requested()) return;
        const std::string& embedder = info.schema.vectors.embedder;
        if (embedder == "openai" || !info.damage.empty()) continue;
        (void)database.token_counter(info.name);  // what cannot be loaded is told to who asks
    }
}

Result<> run_serve(Session& session) {
    return serve_database(session, {});
}

}  // namespace

Result<> serve_database(Session& session, const ServeOptions& wishes) {
    const ServeSettings settings(session);
    BRAID_TRY(net::HttpServerOptions transport, settings.transport());
    BRAID_TRY(server::HttpAppOptions options, settings.app());
    BRAID_TRY(const auto patience, settings.integer("drain-ms", kHour, 30'000));
    BRAID_CHECK(server::require_keys(transport.host, options.keys));
    session.interrupts.hold();
    raise_descriptor_limit();
    BRAID_TRY(auto database, session.open_for_writing(true, database_log(options)));
    // Half of the memory at most, so that bodies that are slow to come do not stop the answers.
    transport.bodies = std::make_shared<ByteBudget>(options.memory->limit() / 2, options.memory);
    server::HttpApp app(database, std::move(options));
    Serving serving(session, app, wishes);
    BRAID_CHECK(serving.start(std::move(transport)));
    const std::jthread warming([&](const std::stop_token& stop) { warm(database, stop); });
    wait_for(session.interrupts.token());
    session.note("stopping");
    serving.stop(milliseconds(patience));
    return {};
}

std::span<const FlagSpec> serve_flags() {
    return kServeFlags;
}

const CommandSpec kServeCommand{
    .name = "serve",
    .operands = "",
    .summary = "serve the database over HTTP, JSON-RPC and MCP",
    .details =
        R"(A web page at / (see "braid open"), REST under /v1 (see /v1/openapi.json),
JSON-RPC 2.0 at /rpc, MCP at /mcp, /healthz and /readyz. Without API keys it
answers only this machine; another --host requires --key-file. Other commands on
the same database go through the server automatically, over a Unix socket in its
folder. On SIGTERM or SIGINT it finishes running requests and exits with 0.

  braid serve --data ~/notes
  braid serve --host 0.0.0.0 --key-file keys.json
  braid serve --metrics-port 9464 --log json --slow-ms 200)",
    .flags = kServeFlags,
    .run = run_serve,
    .whole_database = true,
};

}  // namespace braid::cli
