#include "braid/cli/session.hpp"

#include <cstdint>
#include <limits>

#include "braid/cli/embedders.hpp"

namespace braid::cli {

Result<ReadScope> Session::scope() const {
    ReadScope scope;
    scope.collection = collection();
    scope.namespace_ = namespace_name();
    BRAID_TRY(const Value json, arguments.value(kFilterFlag));
    if (!json.is_null()) {
        BRAID_TRY(scope.filter, parse_filter(json));
    }
    return scope;
}

Result<WriteOptions> Session::write_options() const {
    WriteOptions options;
    BRAID_TRY(const auto version,
              arguments.integer(kIfVersionFlag.name, 0, std::numeric_limits<std::int64_t>::max()));
    if (version) options.if_version = static_cast<Version>(*version);
    return options;
}

Result<Database> Session::open_for_reading() const {
    OpenOptions options;
    options.create = false;
    options.read_only = true;
    return open(std::move(options));
}

Result<Database> Session::open_for_writing(bool create) const {
    OpenOptions options;
    options.create = create;
    return open(std::move(options));
}

Result<Database> Session::open(OpenOptions options) const {
    options.profiles = settings.profiles();
    BRAID_TRY(options.embedders, embedder_factory(settings));
    BRAID_TRY(options.preprocessor, query_preprocessor(settings));
    BRAID_TRY(options.stages, own_stages(settings));
    if (settings.text("durability") == "relaxed") options.durability = Durability::Relaxed;
    options.log = [this](const LogEvent& event) {
        if (event.level == LogEvent::Level::Warning || event.level == LogEvent::Level::Error) {
            warn(event.message);
        } else if (verbose()) {
            note(std::string(event.name) + ": " + std::string(event.message));
        }
    };
    auto database = Database::open(data(), options);
    if (!database && database.error().code == ErrorCode::Locked) {
        return fail(ErrorCode::Locked, "database " + data() + " is in use (" +
                                           database.error().message +
                                           "); wait until the other program is done, reading "
                                           "commands work meanwhile");
    }
    if (database) {
        for (const std::string& line : database->open_report().notes) warn(line);
    }
    return database;
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
