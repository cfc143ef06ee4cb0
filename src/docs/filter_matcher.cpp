#include "braid/docs/filter_matcher.hpp"

#include <algorithm>
#include <compare>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "braid/core/rfc3339.hpp"

namespace braid::docs {
namespace {

using Op = Filter::Op;

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

/// Ids and labels are compared by bytes, even if they look like times.
bool is_name(Field field) {
    return field == Field::ChunkId || field == Field::DocumentId || field == Field::Sensitivity ||
           field == Field::VisibilityScope;
}

std::string_view metadata_path(std::string_view field) {
    constexpr std::string_view prefix = "metadata.";
    return field.starts_with(prefix) ? field.substr(prefix.size()) : field;
}

/// An operand, with its time if it is one.
struct Operand {
    Value value;
    std::optional<Timestamp> time;
};

Operand make_operand(const Value& value, Field field) {
    Operand operand{value, std::nullopt};
    if (value.is_string() && !is_name(field)) {
        if (const auto time = core::parse_rfc3339(value.as_string())) operand.time = *time;
    }
    return operand;
}

/// A field's value without copying text.
struct FieldView {
    enum class Kind { Missing, Text, Time, Scopes, Json } kind = Kind::Missing;
    std::string_view text;
    Timestamp time;
    const std::vector<std::string>* scopes = nullptr;
    const Value* json = nullptr;
    Value number;  // backs `json` for chunk_index
};

std::partial_ordering compare_text(std::string_view text, const Operand& operand) {
    if (!operand.value.is_string()) return std::partial_ordering::unordered;
    if (operand.time) {
        if (const auto time = core::parse_rfc3339(text)) return *time <=> *operand.time;
    }
    return text <=> std::string_view(operand.value.as_string());
}

std::partial_ordering compare_json(const Value& value, const Operand& operand) {
    const Value& other = operand.value;
    if (value.is_string()) return compare_text(value.as_string(), operand);
    if (value.is_number() && other.is_number()) return compare_numbers(value, other);
    if (value.is_bool() && other.is_bool()) return value.as_bool() <=> other.as_bool();
    return value == other ? std::partial_ordering::equivalent : std::partial_ordering::unordered;
}

std::partial_ordering compare_time(Timestamp time, const Operand& operand) {
    return operand.time ? time <=> *operand.time : std::partial_ordering::unordered;
}

/// Whether `test` holds for the value, or for one element of a list. It is given a function that
/// compares what it looks at with an operand.
template <class Test>
bool any_value(const FieldView& field, const Test& test) {
    const auto test_text = [&](std::string_view text) {
        return test([&](const Operand& operand) { return compare_text(text, operand); });
    };
    const auto test_json = [&](const Value& value) {
        return test([&](const Operand& operand) { return compare_json(value, operand); });
    };
    switch (field.kind) {
        case FieldView::Kind::Missing:
            return false;
        case FieldView::Kind::Text:
            return test_text(field.text);
        case FieldView::Kind::Time:
            return test([&](const Operand& operand) { return compare_time(field.time, operand); });
        case FieldView::Kind::Scopes:
            return std::ranges::any_of(*field.scopes, test_text);
        case FieldView::Kind::Json:
            break;
    }
    return test_json(*field.json) ||
           (field.json->is_array() && std::ranges::any_of(field.json->as_array(), test_json));
}

bool any_equal(const FieldView& field, const Operand& operand) {
    return any_value(field, [&](const auto& compare) { return compare(operand) == 0; });
}

bool contains(const FieldView& field, const Operand& operand) {
    const auto in_text = [&](std::string_view text) {
        return operand.value.is_string() &&
               text.find(operand.value.as_string()) != std::string_view::npos;
    };
    if (field.kind == FieldView::Kind::Text) return in_text(field.text);
    if (field.kind == FieldView::Kind::Json && field.json->is_string()) {
        return in_text(field.json->as_string());
    }
    return any_equal(field, operand);
}

}  // namespace

struct FilterMatcher::Node {
    Op op = Op::And;
    Field field = Field::Metadata;
    std::string path;           // into the metadata
    std::string default_level;  // for sensitivity
    std::vector<Operand> operands;
    std::unordered_set<std::string> texts;  // of a list operand, for speed; none of them is a time
    std::vector<Node> children;

    FieldView view(const Chunk& chunk) const;
    bool matches(const Chunk& chunk) const;
    bool in_list(const FieldView& field_view) const;
};

FieldView FilterMatcher::Node::view(const Chunk& chunk) const {
    using Kind = FieldView::Kind;
    const auto text = [](std::string_view value) {
        FieldView view;
        view.kind = Kind::Text;
        view.text = value;
        return view;
    };
    FieldView view;
    switch (field) {
        case Field::ChunkId:
            return text(chunk.chunk_id);
        case Field::DocumentId:
            return text(chunk.document_id);
        case Field::ChunkIndex:
            if (!chunk.chunk_index) break;
            view.number = Value(*chunk.chunk_index);
            view.kind = Kind::Json;
            return view;  // the caller points `json` at `number`
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
    // A field of the chunk that is empty may still stand in the metadata under that name.
    if (const Value* found = find_path(chunk.metadata, path)) {
        view.kind = Kind::Json;
        view.json = found;
    }
    return view;
}

bool FilterMatcher::Node::in_list(const FieldView& field_view) const {
    const auto known = [&](std::string_view text) { return texts.contains(std::string(text)); };
    using Kind = FieldView::Kind;
    if (!texts.empty()) {
        if (field_view.kind == Kind::Text && known(field_view.text)) return true;
        if (field_view.kind == Kind::Scopes && std::ranges::any_of(*field_view.scopes, known)) {
            return true;
        }
        if (field_view.kind == Kind::Json) {
            if (field_view.json->is_string() && known(field_view.json->as_string())) return true;
            if (field_view.json->is_array() &&
                std::ranges::any_of(field_view.json->as_array(), [&](const Value& element) {
                    return element.is_string() && known(element.as_string());
                })) {
                return true;
            }
        }
    }
    return std::ranges::any_of(
        operands, [&](const Operand& operand) { return any_equal(field_view, operand); });
}

bool FilterMatcher::Node::matches(const Chunk& chunk) const {
    switch (op) {
        case Op::And:
            return std::ranges::all_of(children, [&](const Node& n) { return n.matches(chunk); });
        case Op::Or:
            return std::ranges::any_of(children, [&](const Node& n) { return n.matches(chunk); });
        case Op::Not:
            return !children.front().matches(chunk);
        default:
            break;
    }
    FieldView value = view(chunk);
    if (value.kind == FieldView::Kind::Json && value.json == nullptr) value.json = &value.number;
    // One value, or one element of a list, must pass every comparison.
    const auto holds = [&](auto test) { return any_value(value, test); };
    const Operand* operand = operands.data();
    switch (op) {
        case Op::Eq:
            return any_equal(value, *operand);
        case Op::Ne:
            return !any_equal(value, *operand);
        case Op::Gt:
            return holds([&](const auto& compare) { return compare(*operand) > 0; });
        case Op::Gte:
            return holds([&](const auto& compare) { return compare(*operand) >= 0; });
        case Op::Lt:
            return holds([&](const auto& compare) { return compare(*operand) < 0; });
        case Op::Lte:
            return holds([&](const auto& compare) { return compare(*operand) <= 0; });
        case Op::In:
            return in_list(value);
        case Op::Nin:
            return !in_list(value);
        case Op::Exists:
            return operand->value.as_bool() == (value.kind != FieldView::Kind::Missing);
        case Op::Contains:
            return contains(value, *operand);
        default:  // Between
            return holds([&](const auto& compare) {
                return compare(operand[0]) >= 0 && compare(operand[1]) <= 0;
            });
    }
}

namespace {

tl::unexpected<Error> clash(const std::string& field, std::string_view expected,
                            const Value& operand) {
    return invalid_argument("filter: field \"" + field + "\" holds " + std::string(expected) +
                            ", it cannot be compared with a " + std::string(operand.type_name()));
}

std::string_view expected_name(MetadataType type) {
    switch (type) {
        case MetadataType::String:
            return "strings";
        case MetadataType::Number:
            return "numbers";
        case MetadataType::Boolean:
            return "booleans";
        case MetadataType::Date:
            return "RFC 3339 dates";
    }
    return "values";
}

bool has_type(const Value& value, MetadataType type) {
    switch (type) {
        case MetadataType::String:
            return value.is_string();
        case MetadataType::Number:
            return value.is_number();
        case MetadataType::Boolean:
            return value.is_bool();
        case MetadataType::Date:
            return value.is_string() && core::parse_rfc3339(value.as_string()).has_value();
    }
    return false;
}

Result<> check_operand(const std::string& name, Field field, const Value& operand,
                       const Schema& schema) {
    if (operand.is_null()) return {};
    switch (field) {
        case Field::ChunkId:
        case Field::DocumentId:
        case Field::Title:
        case Field::SectionTitle:
        case Field::Sensitivity:
        case Field::VisibilityScope:
            if (!operand.is_string()) return clash(name, "strings", operand);
            return {};
        case Field::ChunkIndex:
            if (!operand.is_number()) return clash(name, "numbers", operand);
            return {};
        case Field::CreatedAt:
            if (!has_type(operand, MetadataType::Date)) {
                return clash(name, "RFC 3339 dates", operand);
            }
            return {};
        case Field::Metadata:
            break;
    }
    for (const MetadataField& declared : schema.metadata) {
        if (declared.name == metadata_path(name) && !has_type(operand, declared.type)) {
            return clash(name, expected_name(declared.type), operand);
        }
    }
    return {};
}

}  // namespace

namespace {

/// Operands of a comparison, one by one.
Array operand_list(const Filter& filter) {
    const bool list = filter.op == Op::In || filter.op == Op::Nin || filter.op == Op::Between;
    return list ? filter.operand.as_array() : Array{filter.operand};
}

template <class Node>
Result<Node> build(const Filter& filter, const Schema& schema) {
    Node node;
    node.op = filter.op;
    for (const Filter& child : filter.children) {
        BRAID_TRY(Node built, build<Node>(child, schema));
        node.children.push_back(std::move(built));
    }
    if (filter.op == Op::And || filter.op == Op::Or || filter.op == Op::Not) return node;
    node.field = field_by_name(filter.field);
    node.path = metadata_path(filter.field);
    node.default_level = schema.levels.default_level;
    const bool list = filter.op == Op::In || filter.op == Op::Nin;
    for (const Value& value : operand_list(filter)) {
        if (filter.op != Op::Exists && filter.op != Op::Contains) {
            BRAID_CHECK(check_operand(filter.field, node.field, value, schema));
        }
        Operand operand = make_operand(value, node.field);
        if (list && value.is_string() && !operand.time) {
            node.texts.insert(value.as_string());
        } else {
            node.operands.push_back(std::move(operand));
        }
    }
    return node;
}

}  // namespace

Result<FilterMatcher> FilterMatcher::create(const Filter& filter, const Schema& schema) {
    // Shorthands and the like are added to what a request says, so the bounds are wider than a
    // request's: they keep recursion and memory in check.
    BRAID_CHECK(validate(filter, {.depth = 100, .clauses = 100'000, .list = 10'000'000}));
    BRAID_TRY(Node root, build<Node>(filter, schema));
    return FilterMatcher(std::make_unique<Node>(std::move(root)));
}

FilterMatcher::FilterMatcher(std::unique_ptr<Node> root) : root_(std::move(root)) {}
FilterMatcher::FilterMatcher(FilterMatcher&&) noexcept = default;
FilterMatcher& FilterMatcher::operator=(FilterMatcher&&) noexcept = default;
FilterMatcher::~FilterMatcher() = default;

bool FilterMatcher::matches(const Chunk& chunk) const {
    return root_->matches(chunk);
}

std::optional<Value> field_value(const Chunk& chunk, const std::string& field,
                                 const Schema& schema) {
    const auto maybe = [](const auto& optional) -> std::optional<Value> {
        if (!optional) return std::nullopt;
        return Value(*optional);
    };
    std::optional<Value> own;
    switch (field_by_name(field)) {
        case Field::ChunkId:
            return Value(chunk.chunk_id);
        case Field::DocumentId:
            return Value(chunk.document_id);
        case Field::ChunkIndex:
            own = maybe(chunk.chunk_index);
            break;
        case Field::Title:
            own = maybe(chunk.title);
            break;
        case Field::SectionTitle:
            own = maybe(chunk.section_title);
            break;
        case Field::CreatedAt:
            if (chunk.created_at) own = Value(core::print_rfc3339(*chunk.created_at));
            break;
        case Field::Sensitivity:
            return Value(chunk.sensitivity ? *chunk.sensitivity : schema.levels.default_level);
        case Field::VisibilityScope:
            if (!chunk.visibility_scope.empty()) {
                own = Value(Array(chunk.visibility_scope.begin(), chunk.visibility_scope.end()));
            }
            break;
        case Field::Metadata:
            break;
    }
    if (own) return own;
    const Value* found = find_path(chunk.metadata, metadata_path(field));
    return found != nullptr ? std::optional<Value>(*found) : std::nullopt;
}

Result<> check_metadata(const Object& metadata, const Schema& schema) {
    for (const MetadataField& declared : schema.metadata) {
        const Value* value = find_path(metadata, declared.name);
        if (value == nullptr || value->is_null()) continue;
        const auto fits = [&](const Value& one) { return has_type(one, declared.type); };
        const bool good =
            value->is_array() ? std::ranges::all_of(value->as_array(), fits) : fits(*value);
        if (!good) {
            return invalid_argument("metadata field \"" + declared.name + "\" holds " +
                                    std::string(expected_name(declared.type)) + ", got " +
                                    std::string(value->type_name()));
        }
    }
    return {};
}

}  // namespace braid::docs
