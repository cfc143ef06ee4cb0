#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "braid/cli/commands/collection_setup.hpp"
#include "braid/cli/commands/input.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/table.hpp"
#include "braid/core/numbers.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::cli {
namespace {

std::string vectors_of(const Value& info) {
    const Value* const schema = info.find("schema");
    if (schema == nullptr) return {};
    std::string text = service::text_in(*schema, "embedder");
    const std::uint64_t dimension = service::number_in(*schema, "dimension");
    if (text != "none" && dimension > 0) text += " " + std::to_string(dimension);
    return text;
}

Result<> run_list(Session& session) {
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const Value result, service->call("collections", {}));
    if (session.json()) {
        session.out.json(result);
        return {};
    }
    const Array& infos = service::list_in(result, "collections");
    if (infos.empty()) {
        session.out.line("No collections yet. Try: braid ingest FILE.jsonl");
        return {};
    }
    Table table(
        {{"collection"}, {"chunks", true}, {"documents", true}, {"vectors"}, {"namespaces"}});
    for (const Value& info : infos) {
        std::string namespaces;
        for (const Value& name : service::list_in(info, "namespaces")) {
            namespaces += (namespaces.empty() ? "" : ", ") + plain(name.as_string());
        }
        const std::string damage = service::text_in(info, "damage");
        if (!damage.empty()) namespaces = "cannot be read: " + plain(damage);
        table.add(
            {service::text_in(info, "name"), core::grouped(service::number_in(info, "chunks")),
             core::grouped(service::number_in(info, "documents")), vectors_of(info), namespaces});
    }
    table.print(session.out);
    return {};
}

constexpr auto kCreateFlags = std::to_array<FlagSpec>({
    {.name = "schema",
     .kind = FlagKind::Text,
     .value = "FILE|-",
     .help = "the schema as JSON; flags override it"},
    {.name = "stop-words", .help = "leave out the language's stop words", .key = "stop_words"},
    {.name = "bm25",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "lucene or okapi",
     .choices = "lucene|okapi"},
});

Result<> run_create(Session& session) {
    const std::string& name = session.arguments.operands.front();
    BRAID_CHECK(validate_collection_name(name));
    Object wanted;
    if (const auto path = session.arguments.text("schema")) {
        BRAID_TRY(const std::string text, read_input(*path));
        auto json = json::parse(text);
        if (!json || !json->is_object()) {
            return invalid_argument(*path + ": " +
                                    (json ? "must be an object" : json.error().message));
        }
        wanted = json->as_object();
    }
    BRAID_TRY(const Object flags, session.arguments.keyed_values(kCreateFlags));
    BRAID_TRY(const Object shared, wanted_schema(session, false));
    for (const Object* given : {&flags, &shared}) {
        for (const auto& [key, value] : *given) wanted.set(key, value);
    }
    if (const auto variant = session.arguments.text("bm25")) {
        wanted.set("bm25", Object{{"variant", Value(*variant)}});
    }
    if (wanted.find("embedder") == nullptr) {
        wanted.set("embedder", session.settings.text("embedder"));
    }
    BRAID_CHECK(wire::schema_from_value(wanted));

    session.interrupts.hold();
    BRAID_TRY(const auto service, session.service_for_writing(true));
    BRAID_TRY(const Value info,
              service->call("create_collection",
                            {{"name", Value(name)}, {"schema", Value(std::move(wanted))}}));
    if (session.json()) {
        session.out.json(info);
    } else if (!session.quiet()) {
        session.out.line("Created collection \"" + name + "\".");
    }
    return {};
}

constexpr auto kDropFlags = std::to_array<FlagSpec>({
    {.name = "yes", .help = "required: a dropped collection cannot be restored"},
});

Result<> run_drop(Session& session) {
    const std::string& name = session.arguments.operands.front();
    if (!session.arguments.has("yes")) {
        return invalid_argument("this deletes collection \"" + name +
                                "\" for good; say --yes if you mean it");
    }
    session.interrupts.hold();
    BRAID_TRY(const auto service, session.service_for_writing(false));
    BRAID_CHECK(service->call("drop_collection", {{"collection", Value(name)}}));
    if (session.json()) {
        session.out.json(Object{{"dropped", Value(name)}});
    } else if (!session.quiet()) {
        session.out.line("Dropped collection \"" + name + "\".");
    }
    return {};
}

constexpr auto kStatsFlags = std::to_array<FlagSpec>({kReadFlag, kNamespaceFlag});

/// How many vectors graphs lead to, and what searches find at the recall that is usually asked for.
void add_dense_rows(const Value& dense, std::vector<std::pair<std::string, std::string>>& rows) {
    rows.emplace_back("in graphs", core::grouped(service::number_in(dense, "in_graphs")));
    const Value* const points = dense.find("points");
    if (points == nullptr || !points->is_array()) return;
    const auto share = [](const Value& point, std::string_view key) {
        const Value* const found = point.find(key);
        return found != nullptr && found->is_number() ? found->as_double() : 0;
    };
    for (const Value& point : points->as_array()) {
        if (share(point, "planned") != kUsualRecall) continue;
        rows.emplace_back("by " + service::text_in(point, "method"),
                          "finds " + core::fixed(share(point, "found"), 4) + " (" +
                              core::fixed(share(point, "low"), 4) + " to " +
                              core::fixed(share(point, "high"), 4) + ") where " +
                              core::fixed(kUsualRecall, 2) + " is planned, of " +
                              core::grouped(service::number_in(dense, "queries")) + " queries");
    }
}

Result<> run_stats(Session& session) {
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(Object scope, session.scope());
    BRAID_TRY(const Value stats, session.read(*service, "stats", std::move(scope)));
    if (session.json()) {
        session.out.json(stats);
        return {};
    }
    const Value* const average = stats.find("average_length");
    std::string length = json::print(average != nullptr ? *average : Value(0));
    length.resize(std::min(length.size(), length.find('.') + 3));
    const auto counted = [&](std::string_view key) {
        return core::grouped(service::number_in(stats, key));
    };
    std::vector<std::pair<std::string, std::string>> rows{
        {"collection", service::text_in(stats, "collection")},
        {"namespace", plain(service::text_in(stats, "namespace"))},
        {"chunks", counted("chunks")},
        {"documents", counted("documents")},
        {"vectors", counted("vectors")},
        {"distinct terms", counted("terms")},
        {"average length", length + " terms"},
        {"on disk", core::byte_size(service::number_in(stats, "bytes_on_disk"))}};
    const Value* const parts = stats.find("bytes_by_part");
    if (parts != nullptr && parts->is_object()) {
        for (const auto& [name, bytes] : parts->as_object()) {
            rows.emplace_back("  " + name, core::byte_size(service::number_in(*parts, name)));
        }
    }
    if (const auto resident = service::number_in(stats, "resident_bytes"); resident > 0) {
        rows.emplace_back("in memory", core::byte_size(resident));
    }
    if (const Value* const dense = stats.find("dense")) add_dense_rows(*dense, rows);
    for (const auto& [name, value] : rows) {
        session.out.line(std::string(session.out.style().dim) + padded(name, 16) +
                         std::string(session.out.style().reset) + value);
    }
    return {};
}

constexpr auto kFacetsFlags = std::to_array<FlagSpec>({
    kReadFlag,
    kNamespaceFlag,
    kFilterFlag,
    {.name = "limit",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "how many values (default: 20)"},
});

Result<> run_facets(Session& session) {
    BRAID_TRY(Object params, session.scope());
    BRAID_TRY(const auto limit, session.arguments.integer("limit", 1, 10'000));
    const std::string& field = session.arguments.operands.front();
    params.set("field", Value(field));
    params.set("limit", limit.value_or(20));
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const Value result, session.read(*service, "facets", std::move(params)));
    if (session.json()) {
        session.out.json(result);
        return {};
    }
    const Array& facets = service::list_in(result, "values");
    if (facets.empty()) {
        session.out.line("No chunk has a value for \"" + plain(field) + "\".");
        return {};
    }
    Table table({{plain(field)}, {"chunks", true}});
    for (const Value& facet : facets) {
        const Value* const value = facet.find("value");
        if (value == nullptr) continue;
        table.add({plain(value->is_string() ? value->as_string() : json::print(*value)),
                   core::grouped(service::number_in(facet, "count"))});
    }
    table.print(session.out);
    return {};
}

}  // namespace

const CommandSpec kCollectionsCommand{
    .name = "collections",
    .operands = "",
    .summary = "list the collections",
    .details = "",
    .flags = {},
    .run = run_list,
    .paged = true,
};

const CommandSpec kCollectionsCreateCommand{
    .name = "collections create",
    .operands = "NAME",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "create an empty collection",
    .details = R"(  braid collections create notes --embedder external --dimension 384
  braid collections create decisions --analyzer simple --bm25 okapi)",
    .flags = kCreateFlags,
    .shared_flags = kSchemaFlags,
    .shared_title = "Of a new collection",
    .run = run_create,
};

const CommandSpec kCollectionsDropCommand{
    .name = "collections drop",
    .operands = "NAME",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "delete a collection for good",
    .details = "",
    .flags = kDropFlags,
    .run = run_drop,
};

const CommandSpec kStatsCommand{
    .name = "stats",
    .operands = "",
    .summary = "count what a collection holds",
    .details = "",
    .flags = kStatsFlags,
    .run = run_stats,
};

const CommandSpec kFacetsCommand{
    .name = "facets",
    .operands = "FIELD",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "count the values of a metadata field",
    .details = R"(  braid facets author.name --filter '{"year": {"$gte": 2020}}')",
    .flags = kFacetsFlags,
    .run = run_facets,
    .paged = true,
};

}  // namespace braid::cli
