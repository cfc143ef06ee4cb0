#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "braid/cli/commands/collection_setup.hpp"
#include "braid/cli/commands/input.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/table.hpp"
#include "braid/cli/view/terminal.hpp"
#include "braid/core/numbers.hpp"
#include "braid/json/json.hpp"
#include "braid/service/operation_json.hpp"
#include "braid/text/display_width.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::cli {
namespace {

std::string vectors_of(const VectorSpec& vectors) {
    if (vectors.embedder == "none" || vectors.dimension == 0) return vectors.embedder;
    return vectors.embedder + " " + std::to_string(vectors.dimension);
}

/// As many of the names as there is room for, and how many more there are.
std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t kRoom = 28;
    std::string shown;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::size_t left = names.size() - i;
        const std::size_t more = left > 1 ? 8 : 0;  // ", 9 more"
        const std::string name = (i > 0 ? ", " : "") + clipped(plain(names[i]), kRoom - more);
        if (i > 0 && text::display_width(shown + name) + more > kRoom) {
            return shown + ", " + core::grouped(left) + " more";
        }
        shown += name;
    }
    return shown;
}

Result<> run_list(Session& session) {
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const auto infos, service->run(service::CollectionsRequest{}));
    if (session.json()) {
        session.out.json(service::output_to_value<service::CollectionsRequest>(infos));
        return {};
    }
    if (infos.empty()) {
        session.out.line("No collections yet. Try: braid ingest FILE.jsonl");
        return {};
    }
    Table table(
        {{"collection"}, {"chunks", true}, {"documents", true}, {"vectors"}, {"namespaces"}});
    for (const CollectionInfo& info : infos) {
        table.add({info.name, core::grouped(info.chunks), core::grouped(info.documents),
                   vectors_of(info.schema.vectors),
                   info.damage.empty() ? some_of(info.namespaces) : "cannot be read"});
    }
    table.print(session.out);
    for (const CollectionInfo& info : infos) {
        if (!info.damage.empty()) session.out.line("\n" + info.name + ": " + plain(info.damage));
    }
    return {};
}

constexpr auto kCreateFlags = std::to_array<FlagSpec>({
    {.name = "schema",
     .kind = FlagKind::Text,
     .value = "FILE|-",
     .help = "the schema as JSON; flags override it"},
    {.name = "stop-words", .help = "leave out the language's stop words", .key = "stop_words"},
    {.name = "positions",
     .help = "store the positions of words: faster phrases",
     .key = "positions"},
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
    service::CreateCollectionRequest request{.name = name};
    BRAID_TRY(request.schema, wire::schema_from_value(wanted));

    session.interrupts.hold();
    BRAID_TRY(const auto service, session.service_for_writing(true));
    BRAID_TRY(const CollectionInfo info, service->run(std::move(request)));
    if (session.json()) {
        session.out.json(wire::collection_to_value(info));
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
                                "\" for good; add --yes if you mean it");
    }
    session.interrupts.hold();
    BRAID_TRY(const auto service, session.service_for_writing(false));
    BRAID_CHECK(service->run(service::DropCollectionRequest{name}));
    if (session.json()) {
        session.out.json(Object{{"dropped", Value(name)}});
    } else if (!session.quiet()) {
        session.out.line("Dropped collection \"" + name + "\".");
    }
    return {};
}

constexpr auto kStatsFlags = std::to_array<FlagSpec>({
    kReadFlag,
    kNamespaceFlag,
    {.name = "probe",
     .kind = FlagKind::Switch,
     .help = "probe both legs first, and keep the result"},
});

/// How many vectors are in graphs, and what searches find at the usual recall.
void add_dense_rows(const DenseStats& dense,
                    std::vector<std::pair<std::string, std::string>>& rows) {
    rows.emplace_back("in graphs", core::grouped(dense.in_graphs));
    for (const DenseStats::Point& point : dense.points) {
        if (point.planned != kUsualRecall) continue;
        rows.emplace_back("by " + point.method + ", top " + std::to_string(point.k),
                          "finds " + core::fixed(point.found, 4) + " (" +
                              core::fixed(point.low, 4) + " to " + core::fixed(point.high, 4) +
                              ") where " + core::fixed(kUsualRecall, 2) + " is planned, of " +
                              core::grouped(dense.queries) + " queries");
    }
}

/// The files that searches read, and the work pending on them.
void add_index_rows(const IndexState& index,
                    std::vector<std::pair<std::string, std::string>>& rows) {
    std::uint64_t dead = 0;
    for (const IndexState::Segment& segment : index.segments) dead += segment.dead;
    rows.emplace_back(
        "segments",
        core::grouped(index.segments.size()) +
            (dead > 0 ? ", " + core::grouped(dead) + " chunks in them deleted or replaced" : ""));
    rows.emplace_back("not in a segment yet", core::grouped(index.in_memory) + " chunks");
    std::string due;
    for (const std::string& work : index.pending) due += (due.empty() ? "" : ", ") + work;
    if (!due.empty()) rows.emplace_back("pending", due);
}

void add_probe_rows(const LegProbes& probes,
                    std::vector<std::pair<std::string, std::string>>& rows) {
    rows.emplace_back("probes", "mean reciprocal rank by vectors and by words, " +
                                    core::grouped(probes.among) + " chunks of " +
                                    core::grouped(probes.chunks));
    for (const LegProbes::Kind& kind : probes.kinds) {
        rows.emplace_back("  " + kind.name,
                          core::fixed(kind.dense, 2) + ", " + core::fixed(kind.sparse, 2) + " of " +
                              core::count_of(kind.asked, "question", "questions"));
    }
    const auto spread = [](const LegProbes::Spread& one) {
        return core::fixed(one.mean, 3) + " ± " + core::fixed(one.deviation, 3);
    };
    rows.emplace_back("  random pairs",
                      spread(probes.random_dense) + ", " + spread(probes.random_sparse));
}

Result<> run_stats(Session& session) {
    const bool probe = session.arguments.has("probe");
    BRAID_TRY(const auto service,
              probe ? session.service_for_writing(false) : session.service_for_reading());
    BRAID_TRY(const service::StatsReport report,
              session.read(*service, service::StatsRequest{session.at(), probe}));
    if (session.json()) {
        session.out.json(service::output_to_value<service::StatsRequest>(report));
        return {};
    }
    const CollectionStats& stats = report.stats;
    std::string length = json::print(stats.average_length);
    length.resize(std::min(length.size(), length.find('.') + 3));
    std::vector<std::pair<std::string, std::string>> rows{
        {"collection", report.collection},
        {"namespace", plain(report.namespace_)},
        {"chunks", core::grouped(stats.chunks)},
        {"documents", core::grouped(stats.documents)},
        {"vectors", core::grouped(stats.vectors)},
        {"distinct terms", core::grouped(stats.terms)},
        {"average length", length + " terms"},
        {"on disk", core::byte_size(stats.bytes_on_disk)}};
    for (const StoredPart& part : stats.parts) {
        rows.emplace_back("  " + part.name, core::byte_size(part.bytes));
    }
    if (stats.resident_bytes > 0) {
        rows.emplace_back("in memory", core::byte_size(stats.resident_bytes));
    }
    if (stats.index) add_index_rows(*stats.index, rows);
    if (stats.dense) add_dense_rows(*stats.dense, rows);
    if (stats.probes) add_probe_rows(*stats.probes, rows);
    std::size_t width = 0;
    for (const auto& [name, value] : rows) width = std::max(width, text::display_width(name));
    for (const auto& [name, value] : rows) {
        session.out.line(std::string(session.out.style().dim) + padded(name, width + 2) +
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
    const auto& operands = session.arguments.operands;
    service::FacetsRequest wanted{.at = session.at(),
                                  .field = operands.empty() ? "" : operands.front()};
    BRAID_TRY(wanted.filter, session.filter());
    BRAID_TRY(const auto limit,
              session.arguments.integer("limit", 1, service::FacetsRequest::kMaxValues));
    if (limit) wanted.limit = static_cast<std::size_t>(*limit);
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const service::FacetReport report, session.read(*service, std::move(wanted)));
    if (session.json()) {
        session.out.json(service::output_to_value<service::FacetsRequest>(report));
        return {};
    }
    if (report.values.empty()) {
        session.out.line(report.field.empty()
                             ? "No chunk has metadata."
                             : "No chunk has a value for \"" + plain(report.field) + "\".");
        return {};
    }
    Table table({{report.field.empty() ? "field" : plain(report.field)}, {"chunks", true}});
    for (const FacetCount& facet : report.values) {
        const Value& value = facet.value;
        table.add({plain(value.is_string() ? value.as_string() : json::print(value)),
                   core::grouped(facet.count)});
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
    .shared_title = "For a new collection",
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
    .details = R"(With --probe, both legs first search for a sample of chunks with queries made
from those chunks: the title, a sentence removed from the text, the first
sentence, the next chunk. This needs no judgements; it shows how well each leg
works, not how real questions fare (docs/quality.md). A running server probes
on its own, a few seconds after the last write, once a quarter of the chunks has
changed.

  braid stats --collection wiki --probe)",
    .flags = kStatsFlags,
    .run = run_stats,
};

const CommandSpec kFacetsCommand{
    .name = "facets",
    .operands = "[FIELD]",
    .min_operands = 0,
    .max_operands = 1,
    .summary = "list metadata fields, or count the values of one",
    .details = R"(  braid facets
  braid facets author.name --filter '{"year": {"$gte": 2020}}')",
    .flags = kFacetsFlags,
    .run = run_facets,
    .paged = true,
};

}  // namespace braid::cli
