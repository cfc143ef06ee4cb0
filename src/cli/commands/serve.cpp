#include "braid/cli/commands/serve.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/serve_settings.hpp"
#include "braid/cli/config/socket_place.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/terminal.hpp"
#include "braid/core/clock.hpp"
#include "braid/net/http/server.hpp"
#include "braid/server/auth/api_keys.hpp"
#include "braid/server/http/app.hpp"
#include "braid/service/log.hpp"

namespace braid::cli {
namespace {

using std::chrono::milliseconds;

/// Events of the database, logged among the lines of the requests.
LogSink database_log(const server::HttpAppOptions& options) {
    return [sink = options.log, format = options.log_format](const LogEvent& event) {
        if (!sink || event.level < LogEvent::Level::Warning) return;
        const service::LogEntry entry{event.level, event.name,
                                      Object{{"message", Value(event.message)}}};
        sink(service::log_line(format, entry, core::system_now()));
    };
}

/// As many connections as the system allows this process.
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
        // Before the first request, since the app may be asked for figures at any time.
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
        if (!all) session_.warn("requests still running were stopped");
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

/// Loads the models that collections use before the first question needs them. Other providers'
/// endpoints are not contacted.
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
    // At most half of the memory, so that slow bodies do not hold up the answers.
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
    .flags = serve_flags(),
    .run = run_serve,
    .whole_database = true,
};

}  // namespace braid::cli
