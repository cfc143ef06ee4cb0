#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "braid/apps/vocabulary.hpp"
#include "braid/cli/commands/collection_setup.hpp"
#include "braid/cli/commands/input.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"
#include "braid/core/rfc3339.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/chunk_json.hpp"

namespace braid::cli {
namespace {

constexpr auto kAddFlags = std::to_array<FlagSpec>({
    kCollectionFlag,
    kNamespaceFlag,
    {.name = "text",
     .kind = FlagKind::Text,
     .value = "TEXT",
     .help = "the text to search and show",
     .key = "content"},
    {.name = "id",
     .kind = FlagKind::Text,
     .value = "ID",
     .help = "default: made from document and text",
     .key = "chunk_id"},
    {.name = "title", .kind = FlagKind::Text, .value = "TEXT", .help = "title", .key = "title"},
    {.name = "section",
     .kind = FlagKind::Text,
     .value = "TEXT",
     .help = "title of the section",
     .key = "section_title"},
    {.name = "document",
     .kind = FlagKind::Text,
     .value = "ID",
     .help = "the document it is part of (default: the id)",
     .key = "document_id"},
    {.name = "chunk-index",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "its place in the document",
     .key = "chunk_index"},
    {.name = "metadata",
     .kind = FlagKind::Json,
     .value = "JSON",
     .help = "an object of your own fields",
     .key = "metadata"},
    {.name = "vector",
     .kind = FlagKind::Json,
     .value = "JSON",
     .help = "a list of numbers",
     .key = "vector"},
    {.name = "created-at",
     .kind = FlagKind::Text,
     .value = "TIME",
     .help = "such as 2025-12-25T10:00:00Z",
     .key = "created_at"},
    {.name = "expires-at",
     .kind = FlagKind::Text,
     .value = "TIME",
     .help = "when it expires",
     .key = "expires_at"},
    {.name = "sensitivity",
     .kind = FlagKind::Text,
     .value = "LEVEL",
     .help = "public, normal, sensitive, restricted",
     .key = "sensitivity"},
    {.name = "scope",
     .kind = FlagKind::List,
     .value = "NAME",
     .help = "who may see it; may be repeated",
     .key = "visibility_scope"},
    kIfVersionFlag,
});

Result<Value> chunk_to_add(const Session& session) {
    BRAID_TRY(Object flags, session.arguments.keyed_values(kAddFlags));
    if (flags.find("content") != nullptr) return Value(std::move(flags));
    if (!flags.empty())
        return invalid_argument(
            "\"add\" needs --text, or the whole chunk as JSON on standard input");
    BRAID_TRY(const std::string text, read_input("-"));
    auto json = json::parse(text);
    if (!json) return invalid_argument("standard input: " + json.error().message);
    return json;
}

Result<> run_add(Session& session) {
    const std::string collection = session.collection();
    BRAID_CHECK(validate_collection_name(collection));
    BRAID_TRY(const WriteOptions options, session.write_options());
    BRAID_TRY(const Value json, chunk_to_add(session));
    BRAID_TRY(wire::ChunkInput input, wire::chunk_from_value(json, apps::vocabulary()));
    const std::string id = input.chunk.chunk_id;
    const std::string name = input.namespace_.value_or(session.namespace_name());
    for (const std::string& warning : input.warnings) session.warn(warning);

    session.interrupts.hold();
    BRAID_TRY(const auto service, session.service_for_writing(true));
    BRAID_TRY(const bool created,
              ensure_collection(session, *service, collection, !input.chunk.vector.empty()));
    std::vector<Chunk> chunks;
    chunks.push_back(std::move(input.chunk));
    BRAID_TRY(const WriteReport report, service->add(collection, std::move(chunks), name, options));
    for (const std::string& warning : report.warnings) session.warn(warning);
    if (session.json()) {
        session.out.json(Object{{"collection", Value(collection)},
                                {"created", created},
                                {"namespace", Value(name)},
                                {"chunk_id", Value(id)},
                                {"replaced", report.replaced > 0},
                                {"version", report.version}});
    } else if (!session.quiet()) {
        session.out.line((report.replaced > 0 ? "Replaced " : "Stored ") + plain(id) +
                         " in collection \"" + collection + "\" (version " +
                         std::to_string(report.version) + ").");
    }
    return {};
}

/// Reports how many chunks a write changed, in JSON under `key`.
void print_count(Session& session, const std::string& collection, const WriteReport& report,
                 const std::string& key, std::string_view what) {
    if (session.json()) {
        session.out.json(Object{
            {"collection", Value(collection)}, {key, report.written}, {"version", report.version}});
    } else if (!session.quiet()) {
        session.out.line(std::string(what) + core::grouped(report.written) +
                         (report.written == 1 ? " chunk." : " chunks."));
    }
}

constexpr auto kUpdateFlags = std::to_array<FlagSpec>({
    kCollectionFlag,
    kNamespaceFlag,
    {.name = "id", .kind = FlagKind::List, .value = "ID", .help = "the chunk; may be repeated"},
    {.name = "metadata",
     .kind = FlagKind::Json,
     .value = "JSON",
     .help = "merged into the metadata; null removes a member"},
    {.name = "created-at", .kind = FlagKind::Text, .value = "TIME", .help = "new time"},
    {.name = "expires-at", .kind = FlagKind::Text, .value = "TIME", .help = "when it expires"},
    {.name = "sensitivity", .kind = FlagKind::Text, .value = "LEVEL", .help = "new level"},
    {.name = "scope",
     .kind = FlagKind::List,
     .value = "NAME",
     .help = "new scopes; may be repeated, \"\" for none"},
    kIfVersionFlag,
});

/// An update, except for its chunk.
Result<MetadataUpdate> update_of(const Arguments& arguments) {
    MetadataUpdate update;
    bool empty = true;
    if (const auto text = arguments.text("metadata")) {
        auto json = json::parse(*text);
        if (!json) return invalid_argument("--metadata: not JSON: " + json.error().message);
        if (!json->is_object()) return invalid_argument("--metadata: must be an object");
        update.metadata = std::move(json->as_object());
        empty = false;
    }
    for (const auto& [flag, into] : {std::pair("created-at", &update.created_at),
                                     std::pair("expires-at", &update.expires_at)}) {
        const auto text = arguments.text(flag);
        if (!text) continue;
        const auto time = core::parse_rfc3339(*text);
        if (!time) return invalid_argument("--" + std::string(flag) + ": " + time.error().message);
        *into = *time;
        empty = false;
    }
    update.sensitivity = arguments.text("sensitivity");
    if (arguments.has("scope")) {
        update.visibility_scope = arguments.list("scope");
        std::erase(*update.visibility_scope, "");
    }
    if (empty && !update.sensitivity && !update.visibility_scope) {
        return invalid_argument(
            "\"update\" needs --metadata, --created-at, --expires-at, --sensitivity or --scope");
    }
    return update;
}

Result<> run_update(Session& session) {
    const std::vector<std::string> ids = session.arguments.list("id");
    if (ids.empty()) return invalid_argument("\"update\" needs --id");
    BRAID_TRY(const WriteOptions options, session.write_options());
    BRAID_TRY(MetadataUpdate update, update_of(session.arguments));
    service::UpdateRequest wanted{.at = session.at(), .updates = {}};
    wanted.if_version = options.if_version;
    for (const std::string& id : ids) {
        update.chunk_id = id;
        wanted.updates.push_back(update);
    }

    session.interrupts.hold();
    BRAID_TRY(const auto service, session.service_for_writing(false));
    BRAID_TRY(const service::UpdateReport report, service->run(std::move(wanted)));
    for (const std::string& warning : report.write.warnings) session.warn(warning);
    print_count(session, report.collection, report.write, "updated", "Updated ");
    return {};
}

constexpr auto kDeleteFlags = std::to_array<FlagSpec>({
    kCollectionFlag,
    kNamespaceFlag,
    {.name = "id", .kind = FlagKind::List, .value = "ID", .help = "a chunk; may be repeated"},
    {.name = "document",
     .kind = FlagKind::List,
     .value = "ID",
     .help = "all chunks of a document; may be repeated"},
    kFilterFlag,
    {.name = "yes", .help = "required if the filter matches everything"},
    kIfVersionFlag,
});

Result<> run_delete(Session& session) {
    service::RemoveRequest wanted{.at = session.at(), .which = {}};
    BRAID_TRY(wanted.which.filter, session.filter());
    BRAID_TRY(const WriteOptions options, session.write_options());
    wanted.if_version = options.if_version;
    wanted.which.chunk_ids = session.arguments.list("id");
    wanted.which.document_ids = session.arguments.list("document");
    wanted.everything = session.arguments.has("yes");
    const DeleteSelector& which = wanted.which;
    const int kinds = (which.chunk_ids.empty() ? 0 : 1) + (which.document_ids.empty() ? 0 : 1) +
                      (which.filter ? 1 : 0);
    if (kinds != 1)
        return invalid_argument("\"delete\" needs one of --id, --document and --filter");
    if (which.filter == Filter{} && !wanted.everything) {
        return invalid_argument(
            "--filter '{}' deletes every chunk of the namespace; add --yes if you mean it");
    }

    session.interrupts.hold();
    BRAID_TRY(const auto service, session.service_for_writing(false));
    BRAID_TRY(const service::RemoveReport report, service->run(std::move(wanted)));
    print_count(session, report.collection, report.write, "deleted", "Deleted ");
    return {};
}

}  // namespace

const CommandSpec kAddCommand{
    .name = "add",
    .operands = "",
    .summary = "store one chunk",
    .details = R"(Without --text, reads the whole chunk as JSON from standard input. Replaces a
chunk with the same id. Creates the database and the collection if missing.

  braid add --id fox-1 --title Foxes --text "Red foxes hunt at dusk."
  echo '{"_id": "fox-2", "text": "Foxes sleep by day."}' | braid add)",
    .flags = kAddFlags,
    .shared_flags = kSchemaFlags,
    .shared_title = "For a new collection",
    .run = run_add,
};

const CommandSpec kUpdateCommand{
    .name = "update",
    .operands = "",
    .summary = "change metadata, time or access of chunks",
    .details = R"(Text and vector stay as they are; use "add" to replace them.

  braid update --id fox-1 --metadata '{"year": 2024, "draft": null}'
  braid update --id fox-1 --sensitivity restricted --if-version 7)",
    .flags = kUpdateFlags,
    .run = run_update,
};

const CommandSpec kDeleteCommand{
    .name = "delete",
    .operands = "",
    .summary = "delete chunks by id, document or filter",
    .details = R"(Unknown ids are not an error.

  braid delete --id fox-1 --id fox-2
  braid delete --document report-7
  braid delete --filter '{"year": {"$lt": 2000}}')",
    .flags = kDeleteFlags,
    .run = run_delete,
};

}  // namespace braid::cli
