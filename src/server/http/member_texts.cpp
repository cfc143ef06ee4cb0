#include "braid/server/http/member_texts.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace braid::server {
namespace {

struct MemberText {
    std::string_view name;
    std::string_view text;
};

constexpr auto kTexts = std::to_array<MemberText>({
    {"analyzer", "How text becomes words: standard or simple."},
    {"bm25", "How words score: variant, k1, b."},
    {"budget", "Tokens that the passages may have."},
    {"chunk_id", "Id of a chunk, unique in its namespace."},
    {"chunk_ids", "Ids of chunks."},
    {"chunk_index", "Its place in the document, from 0."},
    {"chunks", "The chunks to write."},
    {"collection", "Name of a collection."},
    {"content", "Its text."},
    {"created_at", "When it was made, as RFC 3339."},
    {"deadline_ms", "Milliseconds after which a search returns what it has."},
    {"dimension", "Of vectors; by default the first one's."},
    {"document_id", "Id of a document."},
    {"document_ids", "Ids of documents: all their chunks."},
    {"documents", "How many documents of each query are judged."},
    {"expand_neighbors", "Each hit's text with those of its neighbours."},
    {"expires_at", "When it expires; from then on it is not found."},
    {"filter", "Conditions on metadata, as in a search."},
    {"format", "The format of the text."},
    {"if_version", "Write only if each chunk named has this version; 0: if there is none."},
    {"include_history", "Search the history too."},
    {"include_memory", "Search the memory too."},
    {"language", "The stemmer's language, by name or code; none; or auto: each chunk's own."},
    {"levels", "Levels of sensitivity, lowest first, and that of chunks that name none."},
    {"limit", "How many to return."},
    {"metadata", "Anything else about it, to filter by and to show."},
    {"metric", "How vectors compare; by default cosine."},
    {"mission_text", "The mission, in plain words."},
    {"namespace", "A part of the collection; without one, \"default\"."},
    {"per_query", "The measures of each query too."},
    {"queries", "The queries, each with an id."},
    {"query", "The question, in plain words."},
    {"query_syntax", "The query is in the query language."},
    {"requests", "Searches, each as for /v1/retrieve."},
    {"schema", "How a new collection is indexed."},
    {"section_title", "The section it is in."},
    {"sensitivity", "One of the schema's levels: who may see it."},
    {"stop_words", "Leave the language's function words out of the index."},
    {"text", "The text itself."},
    {"text_fields", "The fields that are searched by words, and how much a word counts in each."},
    {"texts", "Texts to find the words in."},
    {"title", "What it is called."},
    {"typos", "Words similar to unknown ones are searched too, unless off."},
    {"updates", "What changes, chunk by chunk."},
    {"vector", "Its vector; without one, the embedder makes it."},
    {"vectors", "Their vectors too."},
    {"visibility_scope", "Who may see it; empty: everybody with the clearance."},
});

}  // namespace

std::string_view text_of_member(std::string_view name) {
    const auto* const known = std::ranges::find(kTexts, name, &MemberText::name);
    return known != kTexts.end() ? known->text : std::string_view();
}

void describe_members(Value& schema) {
    if (schema.is_array()) {
        for (Value& one : schema.as_array()) describe_members(one);
    }
    if (!schema.is_object()) return;
    for (auto& [key, value] : schema.as_object()) {
        describe_members(value);
        if (key != "properties" || !value.is_object()) continue;
        for (auto& [name, member] : value.as_object()) {
            if (!member.is_object() || member.find("description") != nullptr) continue;
            const std::string_view text = text_of_member(name);
            if (!text.empty()) member.as_object().set("description", text);
        }
    }
}

}  // namespace braid::server
