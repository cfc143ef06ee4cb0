#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "braid/apps/artifacts/hybrid_search.hpp"
#include "braid/apps/artifacts/labels.hpp"
#include "braid/core/numbers.hpp"
#include "braid/service/parameters.hpp"
#include "braid/wire/answer_json.hpp"

namespace braid::apps {
namespace {

constexpr std::size_t kSnippet = 200;  // code points
constexpr std::string_view kChunks = "artifact_chunks";

/// The collections that voted for a hit, in the order they were searched; its own where scores were
/// compared instead.
std::vector<std::string> collections_of(const Hit& hit) {
    std::vector<std::string> names;
    for (const ReceiptSource& source : hit.receipt.sources) {
        const bool leg = !source.nested && (source.source == "dense" || source.source == "sparse");
        if (!leg) names.push_back(source.source);
    }
    if (names.empty()) names.push_back(hit.collection);
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

/// A part of a document, or a whole one; what is remembered is whole.
std::string_view type_of(const Hit& hit) {
    const bool kept_whole = is_agent_collection(hit.collection) && hit.collection != kChunks;
    const bool part =
        !kept_whole && (hit.collection == kChunks || hit.chunk.document_id != hit.chunk.chunk_id);
    return part ? "chunk" : "artifact";
}

/// How far the passage is from the query by meaning; none if no vector was compared.
// NOLINTNEXTLINE(misc-no-recursion): receipts nest two levels
std::optional<double> distance_of(const Receipt& receipt) {
    for (const ReceiptSource& source : receipt.sources) {
        if (source.nested) {
            if (const auto distance = distance_of(*source.nested)) return distance;
        } else if (source.source == "dense") {
            return source.distance.value_or(1 - source.score);  // of cosine and of a product
        }
    }
    return std::nullopt;
}

std::string snippet_of(const Chunk& chunk) {
    return on_one_line(beginning(chunk.content, kSnippet));
}

void append_hit(std::string& out, std::size_t number, const Hit& hit) {
    const Chunk& chunk = hit.chunk;
    const auto line = [&](std::string_view text) { (out += text) += '\n'; };
    const auto method = fusion_by_name(hit.receipt.method);
    const bool by_scores = method && *method != FusionMethod::Rrf;
    const std::string_view label = by_scores ? "Score: " : "RRF score: ";
    line("[" + std::to_string(number) + "] " + std::string(label) + core::fixed(hit.score, 3) +
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
               {"distance", distance_of(hit.receipt)},
               {"id", Value(chunk.chunk_id)},
               {"artifact_id", Value(chunk.document_id)},
               {"type", type_of(hit)},
               {"collection", Value(hit.collection)},
               {"collections", service::strings_to_array(collections_of(hit))},
               {"content", Value(chunk.content)},
               {"snippet", Value(snippet_of(chunk))},
               {"source", Value(source_of(chunk))},
               {"trust", Value(trust_of(chunk))},
               {"sensitivity", Value(sensitivity_of(chunk))},
               {"metadata", Value(chunk.metadata)},
               {"receipt", wire::receipt_to_value(hit.receipt)}};
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

std::string hybrid_search_text(const Answer& answer) {
    if (answer.hits.empty()) return "No results found.";
    std::string text = "Found " + std::to_string(answer.hits.size()) +
                       " results (searched: " + joined(collections_of(answer)) + "):\n\n";
    for (std::size_t i = 0; i < answer.hits.size(); ++i) append_hit(text, i + 1, answer.hits[i]);
    text.pop_back();  // lines are joined by line breaks; the last one, empty, has none after it
    return text;
}

std::string hybrid_search_passages(const Answer& answer) {
    std::string text;
    for (std::size_t i = 0; i < answer.hits.size(); ++i) {
        const auto& expanded = answer.hits[i].expanded;
        if (!expanded) continue;
        if (!text.empty()) text += "\n\n";
        text += "[" + std::to_string(i + 1) + "]\n" + *expanded;
    }
    return text;
}

Value hybrid_search_value(const Answer& answer) {
    Array results;
    results.reserve(answer.hits.size());
    for (const Hit& hit : answer.hits) results.push_back(hit_to_value(hit));
    return Object{{"results", std::move(results)},
                  {"searched", service::strings_to_array(collections_of(answer))},
                  {"complete", answer.complete},
                  {"warnings", service::strings_to_array(answer.warnings)},
                  {"unused", service::strings_to_array(answer.unused)}};
}

Value hybrid_search_schema() {
    Object members{{"rank", typed("integer")},
                   {"score", typed("number")},
                   {"distance", Object{{"type", Array{"number", "null"}}}},
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
                   {"metadata", typed("object")},
                   {"receipt", typed("object")}};
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
                              {"warnings", list_of(typed("string"))},
                              {"unused", list_of(typed("string"))}}},
        {"required", Array{"results", "searched", "complete", "warnings", "unused"}}};
}

}  // namespace braid::apps
