#include "braid/server/hybrid_search.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "braid/json/fields.hpp"
#include "braid/server/labels.hpp"
#include "braid/server/parameters.hpp"
#include "braid/wire/request_json.hpp"

namespace braid::server {
namespace {

using json::Fields;

constexpr std::int64_t kMinLimit = 1;
constexpr std::int64_t kMaxLimit = 50;
constexpr std::size_t kSnippet = 200;  // code points
constexpr std::string_view kChunks = "artifact_chunks";

/// Conditions that a request names beside its filter.
constexpr std::array<std::string_view, 8> kShorthands{
    "artifact_type", "sensitivity",   "category",       "stakes",
    "project",       "created_after", "created_before", "document_ids"};

Result<std::size_t> read_limit(Fields& fields, std::vector<std::string>& warnings) {
    BRAID_TRY(const auto given, fields.integer("limit"));
    if (!given) return HybridSearchRequest{}.limit;
    const std::int64_t limit = std::clamp(*given, kMinLimit, kMaxLimit);
    if (limit != *given) {
        warnings.push_back("limit " + std::to_string(*given) + " was changed to " +
                           std::to_string(limit) + ": it must be from 1 to 50");
    }
    return static_cast<std::size_t>(limit);
}

Result<Request> request_of(const HybridSearchRequest& search) {
    Array collections{"artifacts", kChunks};
    if (search.include_memory) collections.emplace_back("memory");
    if (search.include_history) collections.emplace_back("history");
    Object request{{"query", Value(search.query)},
                   {"profile", "artifacts"},
                   {"collections", std::move(collections)},
                   {"top_k", search.limit},
                   {"expand_neighbors", search.expand_neighbors}};
    if (search.filters.is_object()) {
        Object filter;
        for (const auto& [key, value] : search.filters.as_object()) {
            const bool shorthand = std::ranges::find(kShorthands, key) != kShorthands.end();
            // A shorthand may also be written as a condition: {"sensitivity": {"$ne": "public"}}.
            (shorthand && !value.is_object() ? request : filter).set(key, value);
        }
        if (!filter.empty()) request.set("filter", std::move(filter));
    }
    return wire::request_from_value(request);
}

/// The collections that voted for a hit, in the order they were searched.
std::vector<std::string> collections_of(const Hit& hit) {
    std::vector<std::string> names;
    names.reserve(hit.receipt.sources.size());
    for (const ReceiptSource& source : hit.receipt.sources) names.push_back(source.source);
    return names;
}

std::vector<std::string> collections_of(const Answer& answer) {
    std::set<std::string> names;
    for (const Hit& hit : answer.hits) {
        for (std::string& name : collections_of(hit)) names.insert(std::move(name));
    }
    return {names.begin(), names.end()};
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

std::string three_decimals(double number) {
    std::array<char, 400> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                   std::chars_format::fixed, 3);
    return {digits.data(), end.ptr};
}

std::string_view type_of(const Hit& hit) {
    return hit.collection == kChunks ? "chunk" : "artifact";
}

std::string snippet_of(const Chunk& chunk) {
    return on_one_line(beginning(chunk.content, kSnippet));
}

void append_hit(std::string& out, std::size_t number, const Hit& hit) {
    const Chunk& chunk = hit.chunk;
    const auto line = [&](std::string_view text) { (out += text) += '\n'; };
    line("[" + std::to_string(number) + "] RRF score: " + three_decimals(hit.score) +
         " (from: " + joined(collections_of(hit)) + ")");
    line("Type: " + std::string(type_of(hit)) + " | ID: " + on_one_line(chunk.chunk_id));
    if (const std::string title = title_of(chunk); !title.empty()) {
        line("Title: " + on_one_line(title));
    }
    if (chunk.metadata.find("artifact_type") != nullptr) {
        const std::string system = metadata_text(chunk, "source_system");
        line("Source: " + (system.empty() ? "?" : on_one_line(system)) +
             " | Sensitivity: " + on_one_line(sensitivity_of(chunk)));
    }
    line("Snippet: \"" + snippet_of(chunk) + "\"");
    if (const std::string url = metadata_text(chunk, "source_url"); !url.empty()) {
        line("Evidence: " + on_one_line(url));
    }
    line("");
}

Value hit_to_value(const Hit& hit) {
    const Chunk& chunk = hit.chunk;
    Object out{{"rank", hit.rank},
               {"score", hit.score},
               {"id", Value(chunk.chunk_id)},
               {"artifact_id", Value(chunk.document_id)},
               {"type", type_of(hit)},
               {"collection", Value(hit.collection)},
               {"collections", strings_to_array(collections_of(hit))},
               {"content", Value(chunk.content)},
               {"snippet", Value(snippet_of(chunk))},
               {"source", Value(source_of(chunk))},
               {"trust", Value(trust_of(chunk))},
               {"sensitivity", Value(sensitivity_of(chunk))},
               {"metadata", Value(chunk.metadata)}};
    const auto put = [&](std::string_view key, std::string text) {
        if (!text.empty()) out.set(key, std::move(text));
    };
    put("title", title_of(chunk));
    put("artifact_type", metadata_text(chunk, "artifact_type"));
    put("source_system", metadata_text(chunk, "source_system"));
    put("evidence", metadata_text(chunk, "source_url"));
    if (chunk.chunk_index) out.set("chunk_index", *chunk.chunk_index);
    if (hit.expanded) out.set("expanded", *hit.expanded);
    return out;
}

Object typed(std::string_view type) {
    return {{"type", type}};
}

Object list_of(Value items) {
    return {{"type", "array"}, {"items", std::move(items)}};
}

}  // namespace

Result<HybridSearchRequest> read_hybrid_search(const Object& params) {
    Fields fields(params);
    HybridSearchRequest search;
    BRAID_TRY(search.query, fields.required("query", fields.string("query")));
    BRAID_TRY(search.limit, read_limit(fields, search.warnings));
    for (const auto& [key, target] : {std::pair("include_memory", &search.include_memory),
                                      std::pair("include_history", &search.include_history),
                                      std::pair("expand_neighbors", &search.expand_neighbors)}) {
        BRAID_TRY(const auto given, fields.boolean(key));
        *target = given.value_or(false);
    }
    BRAID_TRY(const Object* const filters, fields.object("filters"));
    if (filters != nullptr) search.filters = *filters;
    BRAID_CHECK(fields.finish());
    return search;
}

Result<Answer> hybrid_search(const Operations& operations, const HybridSearchRequest& request,
                             const Caller& caller) {
    BRAID_TRY(const Request search, request_of(request));
    BRAID_CHECK(operations.check(search, caller));
    BRAID_TRY(Answer answer, operations.search(search, caller));
    answer.warnings.insert(answer.warnings.begin(), request.warnings.begin(),
                           request.warnings.end());
    return answer;
}

Result<Value> Operations::hybrid_search(const Object& params, const Caller& caller) const {
    BRAID_TRY(const HybridSearchRequest request, read_hybrid_search(params));
    BRAID_TRY(const Answer answer, server::hybrid_search(*this, request, caller));
    return hybrid_search_value(answer);
}

std::string hybrid_search_text(const Answer& answer) {
    if (answer.hits.empty()) return "No results found.";
    std::string text = "Found " + std::to_string(answer.hits.size()) +
                       " results (searched: " + joined(collections_of(answer)) + "):\n\n";
    for (std::size_t i = 0; i < answer.hits.size(); ++i) append_hit(text, i + 1, answer.hits[i]);
    text.pop_back();  // lines are joined by line breaks; the last one, empty, has none after it
    return text;
}

Value hybrid_search_value(const Answer& answer) {
    Array results;
    results.reserve(answer.hits.size());
    for (const Hit& hit : answer.hits) results.push_back(hit_to_value(hit));
    return Object{{"results", std::move(results)},
                  {"searched", strings_to_array(collections_of(answer))},
                  {"complete", answer.complete},
                  {"warnings", strings_to_array(answer.warnings)}};
}

Value hybrid_search_schema() {
    Object members{{"rank", typed("integer")},
                   {"score", typed("number")},
                   {"id", typed("string")},
                   {"artifact_id", typed("string")},
                   {"type", Object{{"enum", Array{"chunk", "artifact"}}}},
                   {"collection", typed("string")},
                   {"collections", list_of(typed("string"))},
                   {"content", typed("string")},
                   {"snippet", typed("string")},
                   {"source", typed("string")},
                   {"trust", typed("string")},
                   {"sensitivity", typed("string")},
                   {"metadata", typed("object")}};
    Array required;
    required.reserve(members.size());
    for (const auto& [key, schema] : members) required.emplace_back(key);
    for (const std::string_view key :
         {"title", "artifact_type", "source_system", "evidence", "expanded"}) {
        members.set(key, typed("string"));
    }
    members.set("chunk_index", typed("integer"));
    return Object{
        {"type", "object"},
        {"properties", Object{{"results", list_of(Object{{"type", "object"},
                                                         {"properties", std::move(members)},
                                                         {"required", std::move(required)}})},
                              {"searched", list_of(typed("string"))},
                              {"complete", typed("boolean")},
                              {"warnings", list_of(typed("string"))}}},
        {"required", Array{"results", "searched", "complete", "warnings"}}};
}

}  // namespace braid::server
