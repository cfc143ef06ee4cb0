#include "braid/index/prepared.hpp"

#include <algorithm>
#include <utility>

#include "braid/docs/chunk_codec.hpp"
#include "braid/sparse/term_dictionary.hpp"

namespace braid::index {
namespace {

constexpr std::string_view kInMetadata = "metadata.";
/// Deliberately generous: room for a few words too many costs less than moving all of them.
constexpr std::size_t kBytesPerWord = 5;
constexpr std::size_t kMostReserved = 4096;  // words

}  // namespace

std::string_view field_text(const Chunk& chunk, const std::string& field) {
    if (field == "content") return chunk.content;
    if (field == "title") return chunk.title ? std::string_view(*chunk.title) : "";
    if (field == "section_title") {
        return chunk.section_title ? std::string_view(*chunk.section_title) : "";
    }
    const Value* value =
        find_path(chunk.metadata, std::string_view(field).substr(kInMetadata.size()));
    return value != nullptr && value->is_string() ? std::string_view(value->as_string()) : "";
}

PreparedText count_terms(const Chunk& chunk, const Schema& schema, const text::Analyzer& analyzer) {
    struct Occurrence {
        std::uint64_t key;  // the term's first bytes: most comparisons need no more
        std::string* term;
        std::uint32_t field;
        std::uint32_t position;
    };
    PreparedText text;
    std::vector<std::vector<text::Token>> tokens(schema.text_fields.size());
    std::vector<Occurrence> occurrences;
    const text::Analyzer own = analyzer.for_text(chunk.content);
    for (std::uint32_t field = 0; field < schema.text_fields.size(); ++field) {
        const std::string_view words = field_text(chunk, schema.text_fields[field].name);
        tokens[field].reserve(std::min(words.size() / kBytesPerWord, kMostReserved));
        own.analyze(words, tokens[field]);
        text.field_lengths.push_back(static_cast<std::uint32_t>(tokens[field].size()));
        occurrences.reserve(occurrences.size() + tokens[field].size());
        for (text::Token& token : tokens[field]) {
            occurrences.push_back(
                {sparse::leading_bytes(token.term), &token.term, field, token.position});
        }
    }
    std::ranges::sort(occurrences, [](const Occurrence& a, const Occurrence& b) {
        if (a.key != b.key) return a.key < b.key;
        const int order = a.term->compare(*b.term);
        if (order != 0) return order < 0;
        return a.field != b.field ? a.field < b.field : a.position < b.position;
    });
    text.terms.reserve(std::min(occurrences.size(), kMostReserved));
    for (const Occurrence& one : occurrences) {
        const bool same = !text.terms.empty() && text.terms.back().field == one.field &&
                          text.terms.back().term == *one.term;
        if (same) {
            ++text.terms.back().count;
        } else {
            text.terms.push_back({std::move(*one.term), one.field, 1});
        }
        if (schema.positions) text.positions.push_back(one.position);
    }
    return text;
}

PreparedChunk prepare(Chunk chunk, const Schema& schema, const text::Analyzer& analyzer) {
    PreparedText text = count_terms(chunk, schema, analyzer);
    return {std::move(chunk), std::move(text)};
}

bool searches_metadata(const Schema& schema) {
    return std::ranges::any_of(schema.text_fields, [](const TextField& field) {
        return field.name.starts_with(kInMetadata);
    });
}

void apply_update(const MetadataUpdate& update, Chunk& chunk) {
    docs::merge_patch(chunk.metadata, update.metadata);
    if (update.created_at) chunk.created_at = update.created_at;
    if (update.expires_at) chunk.expires_at = update.expires_at;
    if (update.sensitivity) chunk.sensitivity = update.sensitivity;
    if (update.visibility_scope) chunk.visibility_scope = *update.visibility_scope;
}

}  // namespace braid::index
