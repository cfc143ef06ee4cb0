#include "braid/server/mcp/tools.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

#include "braid/apps/artifacts/hybrid_search.hpp"
#include "braid/apps/artifacts/labels.hpp"
#include "braid/json/fields.hpp"
#include "braid/json/json.hpp"
#include "braid/server/mcp/tool_texts.hpp"
#include "braid/server/mcp/write_tools.hpp"
#include "braid/service/operation_json.hpp"
#include "braid/service/parameters.hpp"

namespace braid::server {
namespace {

using json::Fields;

Result<Value> search_memory(const service::Operations& operations, const Object& arguments,
                            const service::Caller& caller) {
    constexpr std::size_t max_limit = 50;
    constexpr std::int64_t max_deadline_ms = 86'400'000;
    Fields fields(arguments);
    Request request;
    BRAID_TRY(request.query, fields.required("query", fields.string("query")));
    BRAID_TRY(request.top_k, service::read_size(fields, "limit", 5, 1, max_limit));
    BRAID_TRY(request.deadline_ms, fields.integer("deadline_ms", 1, max_deadline_ms));
    BRAID_CHECK(fields.finish());
    request.collections = {"memory"};
    BRAID_CHECK(operations.check(request, caller));
    auto found = operations.search(request, caller);
    if (!found && found.error().code == ErrorCode::NotFound) {
        found = Answer{};  // nothing was remembered yet
        found->warnings.emplace_back("there is no collection \"memory\" yet");
    }
    BRAID_TRY(const Answer answer, std::move(found));
    Array results;
    results.reserve(answer.hits.size());
    for (const Hit& hit : answer.hits) {
        Object result{{"rank", hit.rank},
                      {"score", hit.score},
                      {"id", Value(hit.chunk.chunk_id)},
                      {"content", Value(hit.chunk.content)},
                      {"source", Value(apps::source_of(hit.chunk))},
                      {"trust", Value(apps::trust_of(hit.chunk))},
                      {"metadata", Value(hit.chunk.metadata)}};
        if (std::string title = apps::title_of(hit.chunk); !title.empty()) {
            result.set("title", std::move(title));
        }
        results.emplace_back(std::move(result));
    }
    return Value(Object{{"results", std::move(results)},
                        {"complete", answer.complete},
                        {"warnings", service::strings_to_array(answer.warnings)}});
}

Result<> require_collection(const Object& arguments) {
    if (arguments.find("collection") != nullptr) return {};
    return invalid_argument("\"collection\" is required");
}

Result<Value> get(const service::Operations& operations, const Object& arguments,
                  const service::Caller& caller) {
    BRAID_CHECK(require_collection(arguments));
    return service::run_json<service::GetRequest>(operations, arguments, caller);
}

Result<Value> neighbors(const service::Operations& operations, const Object& arguments,
                        const service::Caller& caller) {
    BRAID_CHECK(require_collection(arguments));
    return service::run_json<service::NeighborsRequest>(operations, arguments, caller);
}

Result<Value> list_collections(const service::Operations& operations, const Object& arguments,
                               const service::Caller& caller) {
    const Fields fields(arguments);
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const auto found, operations.visible_collections(caller));
    Array collections;
    collections.reserve(found.size());
    for (const CollectionInfo& info : found) {
        Object out{{"name", Value(info.name)},
                   {"chunks", info.chunks},
                   {"documents", info.documents},
                   {"embedder", Value(info.schema.vectors.embedder)},
                   {"namespaces", service::strings_to_array(info.namespaces)}};
        if (!info.damage.empty()) out.set("damage", caller.told(info.damage));
        collections.emplace_back(std::move(out));
    }
    return Value(Object{{"collections", std::move(collections)}});
}

Result<Value> explain(const service::Operations& operations, const Object& arguments,
                      const service::Caller& caller) {
    BRAID_CHECK(require_collection(arguments));
    Fields fields(arguments);
    for (const std::string_view key :
         {"query", "collection", "chunk_id", "namespace", "deadline_ms"}) {
        fields.any(key);
    }
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const std::string id, fields.required("chunk_id", fields.string("chunk_id")));
    BRAID_CHECK(fields.required("query", fields.string("query")));
    const auto explained =
        service::run_json<service::ExplainRequest>(operations, arguments, caller);
    if (!explained && explained.error().code == ErrorCode::NotFound) {
        return Value(Object{{"found", false}, {"message", Value(explained.error().message)}});
    }
    if (!explained) return tl::unexpected(explained.error());
    const Value* const hit = explained->find("hit");
    Object out{{"found", hit->is_object()},
               {"message", Value()},
               {"shown", *explained->find("shown")},
               {"legs", *explained->find("legs")},
               {"complete", *explained->find("complete")},
               {"warnings", *explained->find("warnings")}};
    if (!hit->is_object()) {
        out.set("message", "\"" + id + "\" is not among the hits of this query");
        return Value(std::move(out));
    }
    for (const std::string_view key : {"rank", "score", "receipt"}) out.set(key, *hit->find(key));
    out.set("message", "\"" + id + "\" is number " + std::to_string(hit->find("rank")->as_int()) +
                           " for this query");
    return Value(std::move(out));
}

using RunTool = Result<Value> (*)(const service::Operations&, const Object&,
                                  const service::Caller&);

struct Tool {
    const ToolText* text;
    RunTool run;  // none: hybrid_search, which has a text of its own
    bool writes = false;
    bool destructive = false;
    bool idempotent = true;
};

constexpr std::array<Tool, 9> kTools{{
    {&kHybridSearchText, nullptr},
    {&kMemorySearchText, search_memory},
    {&kGetText, get},
    {&kNeighborsText, neighbors},
    {&kListCollectionsText, list_collections},
    {&kExplainText, explain},
    {&kRememberText, remember, true, false},
    {&kIngestText, ingest_text, true, true},
    {&kForgetText, forget, true, true},
}};

const Tool* find_tool(std::string_view name) {
    const auto* const found =
        std::ranges::find_if(kTools, [&](const Tool& tool) { return tool.text->name == name; });
    return found != kTools.end() ? found : nullptr;
}

/// The JSON of texts in this program: a mistake in one becomes a null that the tests find.
Value schema_of(std::string_view text) {
    return text.empty() ? apps::hybrid_search_schema() : json::parse(text).value_or(Value());
}

/// The input schema of hybrid_search names the limit that is configured.
Value input_of(const Tool& tool, const service::Operations& operations) {
    constexpr std::string_view built_in = "(1-50)";
    std::string text(tool.text->input);
    const std::size_t place = tool.run == nullptr ? text.find(built_in) : std::string::npos;
    if (place != std::string::npos) {
        Request search;
        search.profile = "artifacts";
        const auto target = operations.database().target_of(search);
        const std::size_t most = target ? target->profile.max_top_k : 0;
        text.replace(place, built_in.size(),
                     most == 0 ? "(1 or more)" : "(1-" + std::to_string(most) + ")");
    }
    return schema_of(text);
}

Value definition_of(const Tool& tool, const service::Operations& operations) {
    return Object{{"name", tool.text->name},
                  {"title", tool.text->title},
                  {"description", tool.text->description},
                  {"inputSchema", input_of(tool, operations)},
                  {"outputSchema", schema_of(tool.text->output)},
                  {"annotations", Object{{"readOnlyHint", !tool.writes},
                                         {"destructiveHint", tool.destructive},
                                         {"idempotentHint", tool.idempotent},
                                         {"openWorldHint", false}}}};
}

Result<ToolResult> run(const service::Operations& operations, const Tool& tool,
                       const Object& arguments, const service::Caller& caller) {
    if (tool.run != nullptr) {
        BRAID_TRY(Value value, tool.run(operations, arguments, caller));
        std::string text = json::print(value);
        return ToolResult{std::move(text), std::move(value), false};
    }
    BRAID_TRY(const apps::HybridSearchRequest request, apps::read_hybrid_search(arguments));
    BRAID_TRY(const Answer answer, apps::hybrid_search(operations, request, caller));
    return ToolResult{apps::hybrid_search_text(answer), apps::hybrid_search_value(answer), false,
                      apps::hybrid_search_passages(answer)};
}

}  // namespace

Tools::Tools(const service::Operations& operations, bool allow_writes)
    : operations_(operations), allow_writes_(allow_writes) {
    definitions_.reserve(kTools.size());
    for (const Tool& tool : kTools) {
        if (allow_writes_ || !tool.writes) definitions_.push_back(definition_of(tool, operations));
    }
}

bool Tools::has(std::string_view name) const {
    const Tool* const tool = find_tool(name);
    return tool != nullptr && (allow_writes_ || !tool->writes);
}

ToolResult Tools::call(std::string_view name, const Object& arguments,
                       const service::Caller& caller) const {
    const Tool& tool = *find_tool(name);
    const std::string_view prefix = tool.run == nullptr ? "Search failed: " : "";
    try {
        auto result = run(operations_, tool, arguments, caller);
        if (result) return *std::move(result);
        return {std::string(prefix) + caller.told(result.error()).message, {}, true};
    } catch (const std::bad_alloc&) {
        return {std::string(prefix) + "out of memory", {}, true};
    } catch (const std::exception&) {
        return {std::string(prefix) + "internal error", {}, true};
    }
}

}  // namespace braid::server
