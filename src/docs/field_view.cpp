#include "braid/docs/field_view.hpp"

#include "braid/core/rfc3339.hpp"

namespace braid::docs {

Field field_by_name(std::string_view name) {
    if (name == "chunk_id") return Field::ChunkId;
    if (name == "document_id") return Field::DocumentId;
    if (name == "chunk_index") return Field::ChunkIndex;
    if (name == "title") return Field::Title;
    if (name == "section_title") return Field::SectionTitle;
    if (name == "created_at") return Field::CreatedAt;
    if (name == "sensitivity") return Field::Sensitivity;
    if (name == "visibility_scope") return Field::VisibilityScope;
    return Field::Metadata;
}

bool is_name(Field field) {
    return field == Field::ChunkId || field == Field::DocumentId || field == Field::Sensitivity ||
           field == Field::VisibilityScope;
}

std::optional<Timestamp> time_of(std::string_view text) {
    constexpr std::size_t date_alone = 10;  // 2025-12-25
    if (text.size() < date_alone || text[4] != '-' || text[7] != '-') return std::nullopt;
    const auto time = core::parse_rfc3339(text);
    return time ? std::optional(*time) : std::nullopt;
}

FieldView view_field(const Chunk& chunk, Field field, std::string_view path,
                     const std::string& default_level) {
    using Kind = FieldView::Kind;
    FieldView view;
    const auto text = [&](std::string_view value) {
        view.kind = Kind::Text;
        view.text = value;
        return view;
    };
    switch (field) {
        case Field::ChunkId:
            return text(chunk.chunk_id);
        case Field::DocumentId:
            return text(chunk.document_id);
        case Field::ChunkIndex:
            if (!chunk.chunk_index) break;
            view.kind = Kind::Integer;
            view.integer = *chunk.chunk_index;
            return view;
        case Field::Title:
            if (chunk.title) return text(*chunk.title);
            break;
        case Field::SectionTitle:
            if (chunk.section_title) return text(*chunk.section_title);
            break;
        case Field::CreatedAt:
            if (!chunk.created_at) break;
            view.kind = Kind::Time;
            view.time = *chunk.created_at;
            return view;
        case Field::Sensitivity:
            return text(chunk.sensitivity ? *chunk.sensitivity : default_level);
        case Field::VisibilityScope:
            if (chunk.visibility_scope.empty()) break;
            view.kind = Kind::Scopes;
            view.scopes = &chunk.visibility_scope;
            return view;
        case Field::Metadata:
            break;
    }
    // A chunk's own field may be empty while the metadata has a member of that name.
    if (const Value* found = find_path(chunk.metadata, path)) {
        view.kind = Kind::Json;
        view.json = found;
    }
    return view;
}

}  // namespace braid::docs
