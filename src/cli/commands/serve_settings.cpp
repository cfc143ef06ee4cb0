#include "braid/cli/commands/serve_settings.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <span>

#include "braid/cli/commands/input.hpp"
#include "braid/cli/commands/serve.hpp"
#include "braid/cli/config/embedders.hpp"
#include "braid/cli/view/output_file.hpp"
#include "braid/server/auth/api_keys.hpp"
#include "braid/service/experiment.hpp"
#include "braid/service/log.hpp"

namespace braid::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kMaxPort = 65'535;

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
     .help = "requests per second for each key (default: any)"},
    {.name = "workers",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "requests handled at the same time"},
    {.name = "memory-mb",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "MiB for requests and answers together (default: 512)"},
    {.name = "answer-mb",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "MiB of text in one answer, or one batch (default: 64)"},
    kWriteMemoryFlag,
    {.name = "max-deadline-ms",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "limit for one request (default: 30000)"},
    {.name = "drain-ms",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "wait for running requests (default: 30000)"},
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
    {.name = "ab",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "two ways to answer, compared on real requests"},
    {.name = "ab-log",
     .kind = FlagKind::Text,
     .value = "FILE",
     .help = "append what they showed, for \"braid ab report\""},
});

/// Writes whole lines to standard error, whichever thread writes them.
service::LineSink error_lines() {
    return [mutex = std::make_shared<std::mutex>()](std::string_view line) {
        const std::string whole = std::string(line) + "\n";
        const std::scoped_lock lock(*mutex);
        std::fwrite(whole.data(), 1, whole.size(), stderr);
    };
}

/// Appends whole lines to a file.
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

const FlagSpec* rate_flag() {
    return std::ranges::find(kServeFlags, std::string_view("rate"), &FlagSpec::name);
}

}  // namespace

std::span<const FlagSpec> serve_flags() {
    return kServeFlags;
}

std::string ServeSettings::text(std::string_view flag, std::string_view setting) const {
    return session_.arguments.text_or(flag, session_.settings.text(setting));
}
Result<std::int64_t> ServeSettings::integer(std::string_view flag, std::int64_t max,
                                            std::int64_t otherwise) const {
    BRAID_TRY(const auto given, session_.arguments.integer(flag, 0, max));
    return given.value_or(otherwise);
}
Result<std::int64_t> ServeSettings::port(std::string_view flag, std::string_view setting) const {
    return integer(flag, kMaxPort, static_cast<std::int64_t>(session_.settings.number(setting)));
}

Result<net::HttpServerOptions> ServeSettings::transport() const {
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

Result<server::HttpAppOptions> ServeSettings::app() const {
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
    BRAID_CHECK(add_experiment(options));
    return options;
}

Result<std::size_t> ServeSettings::mebibytes(std::string_view flag,
                                             std::string_view setting) const {
    constexpr std::int64_t most = 1'000'000'000;
    BRAID_TRY(const auto given, session_.arguments.integer(flag, 1, most));
    const auto configured = static_cast<std::int64_t>(session_.settings.number(setting));
    return static_cast<std::size_t>(given.value_or(configured)) << 20U;
}

Result<> ServeSettings::add_memory(server::HttpAppOptions& options) const {
    BRAID_TRY(const std::size_t memory, mebibytes("memory-mb", "serve.memory_mb"));
    BRAID_TRY(const std::size_t answer, mebibytes("answer-mb", "serve.answer_mb"));
    options.memory = std::make_shared<ByteBudget>(memory);
    service::RequestLimits& limits = options.limits;
    limits.answer_bytes = std::min(answer, memory / 4);
    limits.message_bytes = std::min(limits.message_bytes, memory / 4);
    limits.bulk_bytes = std::min(limits.bulk_bytes, memory / 4);
    return {};
}

Result<> ServeSettings::add_logs(server::HttpAppOptions& options) const {
    const Arguments& arguments = session_.arguments;
    const std::string format = arguments.text_or("log", "human");
    if (format != "none" && !session_.quiet()) {
        options.log = error_lines();
    }
    options.log_format = format == "json" ? service::LogFormat::Json : service::LogFormat::Human;
    options.log_texts = arguments.has("log-texts");
    BRAID_TRY(const auto slow, integer("slow-ms", kHour, 0));
    options.slow_query = milliseconds(slow);
    if (const auto path = arguments.text("audit")) {
        BRAID_TRY(options.audit, file_lines(*path));
    }
    return {};
}

Result<> ServeSettings::add_experiment(server::HttpAppOptions& options) const {
    const auto path = session_.arguments.text("ab");
    const auto log = session_.arguments.text("ab-log");
    if (!path && !log) return {};
    if (!path || !log) return invalid_argument("--ab and --ab-log must be given together");
    BRAID_TRY(const std::string json, read_input(*path));
    auto plan = service::read_experiment(json, *application_vocabulary());
    if (!plan) return fail(*path, std::move(plan).error());
    BRAID_TRY(auto lines, file_lines(*log));
    options.service.experiment =
        std::make_shared<service::Experiment>(*std::move(plan), std::move(lines));
    return {};
}

}  // namespace braid::cli
