#include "braid/cli/session.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>

#include "braid/apps/vocabulary.hpp"
#include "braid/cli/config/cluster.hpp"
#include "braid/cli/config/embedders.hpp"
#include "braid/cli/config/socket_place.hpp"

namespace braid::cli {
namespace {

/// What an answer lacks is part of the answer, and shown with it.
bool said_by_answers(std::string_view event) {
    constexpr std::array events{"collection_failed", "explain_failed", "hop_failed", "leg_failed",
                                "stage_failed"};
    return std::ranges::find(events, event) != events.end();
}

}  // namespace

std::string Session::only_collection(const service::Service& service) {
    const auto infos = service.run(service::CollectionsRequest{});
    if (!infos || infos->size() != 1 || infos->front().name == kDefaultCollection) return {};
    return infos->front().name;
}

Result<std::string> Session::collection_to_read(const service::Service& service) const {
    if (auto given = arguments.text("collection")) return *std::move(given);
    const auto usual = service.schema(std::string(kDefaultCollection));
    if (usual) return std::string(kDefaultCollection);
    if (usual.error().code != ErrorCode::NotFound) return tl::unexpected(usual.error());
    std::string only = only_collection(service);
    if (only.empty()) return tl::unexpected(usual.error());
    if (verbose()) note("in \"" + only + "\", the only collection");
    return only;
}

void Session::name_collection(const service::Service& service, Request& request) const {
    if (!request.collections.empty()) return;
    auto name = collection_to_read(service);
    if (name && *name != kDefaultCollection) request.collections = {*std::move(name)};
}

Result<std::optional<Filter>> Session::filter() const {
    BRAID_TRY(const Value json, arguments.value(kFilterFlag));
    if (json.is_null()) return std::nullopt;
    BRAID_TRY(Filter filter, parse_filter(json));
    return filter;
}

Result<WriteOptions> Session::write_options() const {
    WriteOptions options;
    BRAID_TRY(const auto version,
              arguments.integer(kIfVersionFlag.name, 0, std::numeric_limits<std::int64_t>::max()));
    if (version) options.if_version = static_cast<Version>(*version);
    return options;
}

Result<std::unique_ptr<service::Service>> Session::service_at(const std::string& socket) const {
    if (verbose()) note("through the server at " + socket);
    BRAID_TRY(auto embedders, embedder_factory(settings));
    return service::remote_service(socket, std::move(embedders), visitor, apps::vocabulary());
}

std::optional<std::string> Session::server_socket() const {
    if (clustered()) return std::nullopt;  // nobody has it to himself
    if (exact_engine()) return std::nullopt;
    auto socket = served_socket(data());
    if (socket) return socket;
    if (const std::string why = distrusted_socket(data()); !why.empty()) warn(why);
    return std::nullopt;
}

Result<std::unique_ptr<service::Service>> Session::service_for_reading() const {
    if (const auto socket = server_socket()) return service_at(*socket);
    BRAID_TRY(auto database, open_for_reading());
    return service::local_service(std::move(database), visitor);
}

Result<std::unique_ptr<service::Service>> Session::service_for_writing(bool create) const {
    if (const auto socket = server_socket()) return service_at(*socket);
    auto database = open_for_writing(create);
    if (database) return service::local_service(*std::move(database), visitor);
    // A server may have started meanwhile.
    if (database.error().code == ErrorCode::Locked) {
        if (const auto socket = served_socket(data())) return service_at(*socket);
    }
    return tl::unexpected<Error>(std::move(database).error());
}

Result<Database> Session::open_for_reading() const {
    OpenOptions options;
    options.create = false;
    options.read_only = true;
    options.exact_engine = exact_engine();
    return open(std::move(options));
}

Result<Database> Session::open_for_writing(bool create, LogSink log) const {
    OpenOptions options;
    options.create = create;
    options.log = std::move(log);
    return open(std::move(options));
}

Result<Database> Session::open(OpenOptions options) const {
    options.profiles = settings.profiles();
    options.default_profile = settings.default_profile();
    BRAID_TRY(options.embedders, embedder_factory(settings));
    BRAID_TRY(options.preprocessor, query_preprocessor(settings));
    BRAID_TRY(options.stages, own_stages(settings));
    if (settings.text("durability") == "relaxed") options.durability = Durability::Relaxed;
    BRAID_TRY(const auto memory, arguments.integer("write-memory-mb", 16, 1'000'000));
    const Setting& usual = settings.setting("write_memory_mb");
    const bool low =
        usual.is_default() && arguments.command != nullptr && arguments.command->low_memory;
    options.write_memory_mb = static_cast<std::uint64_t>(memory.value_or(
        low ? kLowWriteMemory : static_cast<std::int64_t>(settings.number("write_memory_mb"))));
    const bool told_elsewhere = static_cast<bool>(options.log);
    if (!told_elsewhere) {
        options.log = [this](const LogEvent& event) {
            if (said_by_answers(event.name)) return;
            if (event.level == LogEvent::Level::Warning || event.level == LogEvent::Level::Error) {
                warn(event.message);
            } else if (verbose()) {
                note(std::string(event.name) + ": " + std::string(event.message));
            }
        };
    }
    if (clustered()) {
        if (exact_engine())
            return invalid_argument("--engine exact searches a folder, not a cluster");
        BRAID_TRY(const ClusterEndpoint endpoint, cluster_endpoint(arguments, settings));
        return Database::cluster(endpoint, options);
    }
    if (arguments.has("url") || arguments.has("key")) {
        return invalid_argument("--url and --key are for a cluster: add --backend opensearch");
    }
    // Whole paths, so that a log says where files are; callers of a server are not told any.
    const std::filesystem::path place = data();
    std::error_code unknown;
    if (!options.create && !place.empty() && !std::filesystem::exists(place, unknown) && !unknown) {
        return fail(ErrorCode::NotFound,
                    "there is no database at " + data() +
                        "; \"braid ingest\" and \"braid add\" create one, --data names another");
    }
    auto database =
        Database::open(place.empty() ? place : std::filesystem::absolute(place), options);
    if (!database && database.error().code == ErrorCode::Locked) {
        return fail(
            ErrorCode::Locked,
            "database " + data() + " is in use (" + database.error().message +
                "); wait until the other program is done; commands that only read still work");
    }
    if (database && told_elsewhere) {  // in a log that nobody may be looking at
        for (const std::string& line : database->open_report().notes) warn(line);
    }
    return database;
}

bool Session::clustered() const {
    return on_cluster(arguments, settings);
}

std::string Session::place() const {
    return clustered() ? arguments.text_or("url", settings.text("cluster.url")) : data();
}

Result<> Session::need_folder() const {
    if (!clustered()) return {};
    return fail(ErrorCode::Unsupported,
                "\"" + std::string(arguments.command->name) +
                    "\" works on the files of a folder, not on a cluster; see docs/cluster.md");
}

void Session::note(std::string_view text) const {
    if (!quiet()) out.note(text);
}

void Session::warn(std::string_view text) const {
    if (quiet()) return;
    const Style& style = out.note_style();
    out.note(std::string(style.warning) + "warning:" + std::string(style.reset) + " " +
             plain(text));
}

}  // namespace braid::cli
