#include "braid/collection.hpp"

#include <algorithm>
#include <cmath>

#include "braid/answer.hpp"

namespace braid {
namespace {

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

bool is_text_field(const std::string& name) {
    return name == "title" || name == "section_title" || name == "content" ||
           (name.starts_with("metadata.") && name.size() > 9);
}

}  // namespace

Result<> validate_collection_name(std::string_view name) {
    if (name.empty() || name.size() > 100 || !std::ranges::all_of(name, is_name_character)) {
        return invalid_argument("collection name \"" + std::string(name.substr(0, 120)) +
                                "\": use 1 to 100 letters, digits, '_' and '-'");
    }
    return {};
}

Result<> validate(const Schema& schema) {
    if (schema.text_fields.empty())
        return invalid_argument("schema: at least one text field is needed");
    for (std::size_t i = 0; i < schema.text_fields.size(); ++i) {
        const TextField& field = schema.text_fields[i];
        if (!is_text_field(field.name)) {
            return invalid_argument("schema: text field \"" + field.name +
                                    "\": use title, section_title, content or metadata.<path>");
        }
        if (!std::isfinite(field.weight) || field.weight <= 0) {
            return invalid_argument("schema: the weight of text field \"" + field.name +
                                    "\" must be above 0");
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (schema.text_fields[j].name == field.name) {
                return invalid_argument("schema: text field \"" + field.name + "\" is named twice");
            }
        }
    }
    const Bm25& bm25 = schema.bm25;
    if (!std::isfinite(bm25.k1) || bm25.k1 < 0)
        return invalid_argument("schema: bm25.k1 must be 0 or more");
    if (!(bm25.b >= 0 && bm25.b <= 1))
        return invalid_argument("schema: bm25.b must be from 0 to 1");
    if (!std::isfinite(bm25.epsilon) || bm25.epsilon < 0) {
        return invalid_argument("schema: bm25.epsilon must be 0 or more");
    }
    if (schema.vectors.embedder.empty())
        return invalid_argument("schema: the embedder has no name");
    if (schema.vectors.dimension > kMaxDimension) {
        return invalid_argument("schema: a dimension of " +
                                std::to_string(schema.vectors.dimension) +
                                " is above the limit of " + std::to_string(kMaxDimension));
    }
    const AccessLevels& levels = schema.levels;
    for (std::size_t i = 0; i < levels.names.size(); ++i) {
        const auto first = std::ranges::find(levels.names, levels.names[i]);
        if (first != levels.names.begin() + static_cast<std::ptrdiff_t>(i)) {
            return invalid_argument("schema: level \"" + levels.names[i] + "\" is named twice");
        }
    }
    if (std::ranges::find(levels.names, levels.default_level) == levels.names.end()) {
        return invalid_argument("schema: default level \"" + levels.default_level +
                                "\" is not a level");
    }
    for (std::size_t i = 0; i < schema.metadata.size(); ++i) {
        if (schema.metadata[i].name.empty())
            return invalid_argument("schema: a metadata field has no name");
        for (std::size_t j = 0; j < i; ++j) {
            if (schema.metadata[j].name == schema.metadata[i].name) {
                return invalid_argument("schema: metadata field \"" + schema.metadata[i].name +
                                        "\" is declared twice");
            }
        }
    }
    return {};
}

bool operator==(const ReceiptSource& a, const ReceiptSource& b) {
    const bool same_nested =
        (a.nested == nullptr) == (b.nested == nullptr) && (!a.nested || *a.nested == *b.nested);
    return same_nested && a.source == b.source && a.score == b.score && a.distance == b.distance &&
           a.rank == b.rank && a.normalized == b.normalized && a.weight == b.weight &&
           a.contribution == b.contribution && a.filled == b.filled && a.corrected == b.corrected &&
           a.chunk_id == b.chunk_id;
}

Result<Schema> with_choice(Schema schema, const Bm25Choice& choice) {
    schema.bm25.k1 = choice.k1.value_or(schema.bm25.k1);
    schema.bm25.b = choice.b.value_or(schema.bm25.b);
    if (!std::isfinite(schema.bm25.k1) || schema.bm25.k1 < 0) {
        return invalid_argument("\"bm25\": k1 must be 0 or more");
    }
    if (!(schema.bm25.b >= 0 && schema.bm25.b <= 1)) {
        return invalid_argument("\"bm25\": b must be from 0 to 1");
    }
    for (const TextField& chosen : choice.text_fields) {
        const auto field = std::ranges::find(schema.text_fields, chosen.name, &TextField::name);
        if (field == schema.text_fields.end()) {
            return invalid_argument("\"bm25\": \"" + chosen.name +
                                    "\" is not a text field of the collection");
        }
        if (!std::isfinite(chosen.weight) || chosen.weight <= 0) {
            return invalid_argument("\"bm25\": the weight of text field \"" + chosen.name +
                                    "\" must be above 0");
        }
        field->weight = chosen.weight;
    }
    return schema;
}

}  // namespace braid
