#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/rfc3339.hpp"
#include "braid/json/json.hpp"
#include "braid/text/display_width.hpp"
#include "braid/wire/chunk_json.hpp"

namespace braid::cli {
namespace {

constexpr auto kGetFlags = std::to_array<FlagSpec>({
    kReadFlag,
    kNamespaceFlag,
    {.name = "vectors", .help = "show the vectors too"},
});

using Rows = std::vector<std::pair<std::string, std::string>>;

Rows fields_of(const Chunk& chunk) {
    Rows rows;
    const auto add = [&](std::string_view name, std::string value) {
        rows.emplace_back(name, std::move(value));
    };
    if (chunk.document_id != chunk.chunk_id) add("document", plain(chunk.document_id));
    if (chunk.chunk_index) add("index", std::to_string(*chunk.chunk_index));
    if (chunk.title) add("title", plain(*chunk.title));
    if (chunk.section_title) add("section", plain(*chunk.section_title));
    if (chunk.created_at) add("created", core::print_rfc3339(*chunk.created_at));
    if (chunk.expires_at) add("expires", core::print_rfc3339(*chunk.expires_at));
    if (chunk.sensitivity) add("sensitivity", plain(*chunk.sensitivity));
    for (const std::string& scope : chunk.visibility_scope) add("scope", plain(scope));
    for (const auto& [key, value] : chunk.metadata) {
        add(plain(key), plain(value.is_string() ? value.as_string() : json::print(value)));
    }
    add("version", std::to_string(chunk.version));
    if (!chunk.vector.empty()) {
        add("vector", json::print(wire::vector_to_value(chunk.vector)));
    }
    return rows;
}

/// Line by line as stored; on a terminal, long lines are broken between words.
void print_content(Output& out, const std::string& content) {
    const std::size_t room =
        out.on_terminal() ? out.width() - 2 : std::numeric_limits<std::uint32_t>::max();
    for (const std::string& line : text_lines(content, room)) {
        out.line(line.empty() ? line : "  " + line);
    }
}

void print_chunk(Output& out, const Chunk& chunk) {
    const Style& style = out.style();
    out.line(std::string(style.bold) + plain(chunk.chunk_id) + std::string(style.reset));
    const Rows rows = fields_of(chunk);
    std::size_t width = 0;
    for (const auto& [name, value] : rows) width = std::max(width, text::display_width(name));
    for (const auto& [name, value] : rows) {
        out.line("  " + std::string(style.dim) + padded(name, width) + std::string(style.reset) +
                 "  " + value);
    }
    out.line();
    print_content(out, chunk.content);
}

Result<> run_get(Session& session) {
    const std::vector<std::string>& ids = session.arguments.operands;
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const std::string collection, session.collection_to_read(*service));
    BRAID_TRY(const auto chunks,
              service->run(service::GetRequest{.at = {collection, session.namespace_name()},
                                               .chunk_ids = ids,
                                               .vectors = session.arguments.has("vectors")}));
    Array found;
    Array missing;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (i >= chunks.size() || !chunks[i]) {
            missing.emplace_back(ids[i]);
        } else if (session.json()) {
            found.push_back(wire::chunk_to_value(*chunks[i]));
        } else {
            if (i > 0) session.out.line();
            print_chunk(session.out, *chunks[i]);
        }
    }
    const std::size_t lost = missing.size();
    const std::string first = lost > 0 ? missing.front().as_string() : "";
    if (session.json()) {
        session.out.json(Object{{"collection", Value(collection)},
                                {"namespace", Value(session.namespace_name())},
                                {"chunks", std::move(found)},
                                {"missing", std::move(missing)}});
    }
    if (lost == 0) return {};
    return fail(ErrorCode::NotFound,
                "collection \"" + collection + "\", namespace \"" + session.namespace_name() +
                    "\": no chunk \"" + first + "\"" +
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
    .paged = true,
};

}  // namespace braid::cli
