#include <array>
#include <optional>
#include <string>
#include <vector>

#include "braid/cli/commands.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/rfc3339.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/chunk_json.hpp"

namespace braid::cli {
namespace {

constexpr auto kGetFlags = std::to_array<FlagSpec>({
    kCollectionFlag,
    kNamespaceFlag,
    {.name = "vectors", .help = "show the vectors too"},
});

void print_field(Output& out, std::string_view name, const std::string& value) {
    out.line("  " + std::string(out.style().dim) + padded(name, 14) +
             std::string(out.style().reset) + value);
}

void print_chunk(Output& out, const Chunk& chunk) {
    const Style& style = out.style();
    out.line(std::string(style.bold) + plain(chunk.chunk_id) + std::string(style.reset));
    if (chunk.document_id != chunk.chunk_id) print_field(out, "document", plain(chunk.document_id));
    if (chunk.chunk_index) print_field(out, "index", std::to_string(*chunk.chunk_index));
    if (chunk.title) print_field(out, "title", plain(*chunk.title));
    if (chunk.section_title) print_field(out, "section", plain(*chunk.section_title));
    if (chunk.created_at) print_field(out, "created", core::print_rfc3339(*chunk.created_at));
    if (chunk.sensitivity) print_field(out, "sensitivity", plain(*chunk.sensitivity));
    for (const std::string& scope : chunk.visibility_scope) {
        print_field(out, "scope", plain(scope));
    }
    for (const auto& [key, value] : chunk.metadata) {
        print_field(out, plain(key),
                    plain(value.is_string() ? value.as_string() : json::print(value)));
    }
    print_field(out, "version", std::to_string(chunk.version));
    if (!chunk.vector.empty()) {
        print_field(out, "vector", json::print(wire::vector_to_value(chunk.vector)));
    }
    const std::size_t width = out.width() - 2;
    for (const std::string& line :
         wrapped({{chunk.content, false}}, width, chunk.content.size() + 1, style)) {
        out.line("  " + line);
    }
}

Result<> run_get(Session& session) {
    BRAID_TRY(Object params, session.scope());
    const std::vector<std::string>& ids = session.arguments.operands;
    params.set("chunk_ids", Array(ids.begin(), ids.end()));
    params.set("vectors", session.arguments.has("vectors"));
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const Value result, service->call("get", std::move(params)));
    const Array& chunks = list_in(result, "chunks");
    Array found;
    Array missing;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (i >= chunks.size() || chunks[i].is_null()) {
            missing.emplace_back(ids[i]);
        } else if (session.json()) {
            found.push_back(chunks[i]);
        } else {
            if (i > 0) session.out.line();
            BRAID_TRY(const wire::ChunkInput chunk, wire::chunk_from_value(chunks[i]));
            print_chunk(session.out, chunk.chunk);
        }
    }
    const std::size_t lost = missing.size();
    const std::string first = lost > 0 ? missing.front().as_string() : "";
    if (session.json()) {
        session.out.json(Object{{"collection", Value(session.collection())},
                                {"namespace", Value(session.namespace_name())},
                                {"chunks", std::move(found)},
                                {"missing", std::move(missing)}});
    }
    if (lost == 0) return {};
    return fail(ErrorCode::NotFound,
                "collection \"" + session.collection() + "\", namespace \"" +
                    session.namespace_name() + "\": no chunk \"" + first + "\"" +
                    (lost > 1 ? " and " + std::to_string(lost - 1) + " more" : ""));
}

}  // namespace

const CommandSpec kGetCommand{
    .name = "get",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = 100'000,
    .summary = "show chunks by id",
    .details = R"(  braid get fox-1 fox-2 --json)",
    .flags = kGetFlags,
    .run = run_get,
};

}  // namespace braid::cli
