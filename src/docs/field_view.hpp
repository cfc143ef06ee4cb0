#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/core/metadata_path.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::docs {

/// What a filter can name.
enum class Field {
    ChunkId,
    DocumentId,
    ChunkIndex,
    Title,
    SectionTitle,
    CreatedAt,
    Sensitivity,
    VisibilityScope,
    Metadata
};

Field field_by_name(std::string_view name);

/// Ids and labels are compared by bytes, even if they look like times.
bool is_name(Field field);

using core::metadata_path;

/// The time that a text denotes, if it is an RFC 3339 time. Fast for texts that are not.
std::optional<Timestamp> time_of(std::string_view text);

/// A field's value, borrowed from its chunk.
struct FieldView {
    enum class Kind { Missing, Text, Integer, Time, Scopes, Json } kind = Kind::Missing;
    std::string_view text;
    std::int64_t integer = 0;
    Timestamp time;
    const std::vector<std::string>* scopes = nullptr;
    const Value* json = nullptr;

    bool missing() const noexcept { return kind == Kind::Missing; }
};

/// `path` is looked up in the metadata if the chunk's own field is empty. `default_level` is the
/// level of a chunk without sensitivity, and must outlive the view.
FieldView view_field(const Chunk& chunk, Field field, std::string_view path,
                     const std::string& default_level);

/// Whether `test`, which takes a std::string_view, a Timestamp, a number or a JSON value, holds for
/// the field's value or, if that is a list, for one of its elements.
template <class Test>
bool any_value(const FieldView& field, const Test& test) {
    switch (field.kind) {
        case FieldView::Kind::Missing:
            return false;
        case FieldView::Kind::Text:
            return test(field.text);
        case FieldView::Kind::Integer:
            return test(Value(field.integer));
        case FieldView::Kind::Time:
            return test(field.time);
        case FieldView::Kind::Scopes:
            return std::ranges::any_of(*field.scopes, [&](const std::string& scope) {
                return test(std::string_view(scope));
            });
        case FieldView::Kind::Json:
            break;
    }
    const auto one = [&](const Value& value) {
        return value.is_string() ? test(std::string_view(value.as_string())) : test(value);
    };
    return one(*field.json) ||
           (field.json->is_array() && std::ranges::any_of(field.json->as_array(), one));
}

}  // namespace braid::docs
