#include "braid/docs/filter_matcher.hpp"

#include <algorithm>
#include <compare>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "braid/core/limits.hpp"
#include "braid/core/rfc3339.hpp"
#include "braid/docs/field_view.hpp"
#include "braid/docs/value_set.hpp"

namespace braid::docs {
namespace {

using Op = Filter::Op;

/// What a field is compared with, with its time if it is one.
struct Operand {
    Value value;
    std::optional<Timestamp> time;
};

Operand make_operand(const Value& value, Field field) {
    Operand operand{value, std::nullopt};
    if (value.is_string() && !is_name(field)) operand.time = time_of(value.as_string());
    return operand;
}

// Each compares what a field holds with an operand.
std::partial_ordering compare(std::string_view text, const Operand& operand) {
    if (!operand.value.is_string()) return std::partial_ordering::unordered;
    if (operand.time) {
        if (const auto time = time_of(text)) return *time <=> *operand.time;
    }
    return text <=> std::string_view(operand.value.as_string());
}

std::partial_ordering compare(Timestamp time, const Operand& operand) {
    return operand.time ? time <=> *operand.time : std::partial_ordering::unordered;
}

std::partial_ordering compare(const Value& value, const Operand& operand) {
    const Value& other = operand.value;
    if (value.is_number() && other.is_number()) return compare_numbers(value, other);
    if (value.is_bool() && other.is_bool()) return value.as_bool() <=> other.as_bool();
    return std::partial_ordering::unordered;  // operands of an order are none of the others
}

/// Linear in both, whatever they hold.
bool has_part(std::string_view text, std::string_view part) {
    return part.empty() || (!text.empty() && ::memmem(text.data(), text.size(), part.data(),
                                                      part.size()) != nullptr);
}

}  // namespace

struct FilterMatcher::Node {
    Op op = Op::And;
    Field field = Field::Metadata;
    std::string path;           // into the metadata
    std::string default_level;  // for sensitivity
    bool exists = false;
    std::vector<Operand> operands;  // of an order: one, or low and high
    std::string part;               // of $contains, if it is a text
    bool part_is_text = false;
    std::optional<ValueSet> set;  // of an equality
    std::vector<Node> children;
    std::size_t cost = 1;

    bool is_leaf() const noexcept { return op != Op::And && op != Op::Or && op != Op::Not; }
    bool matches(const Chunk& chunk) const;
    /// Requires a leaf.
    bool holds_for(const FieldView& value) const;
    /// Requires a leaf.
    Result<std::vector<std::uint64_t>> select_leaf(const FieldColumns& columns, std::size_t rows,
                                                   const CallLimits& limits) const;
    Result<std::vector<std::uint64_t>> select(const FieldColumns& columns, std::size_t rows,
                                              const CallLimits& limits) const;
    bool compares(const FieldView& value) const;
    bool contains(const FieldView& value) const;
};

bool FilterMatcher::Node::contains(const FieldView& value) const {
    using Kind = FieldView::Kind;
    if (value.kind == Kind::Text) return part_is_text && has_part(value.text, part);
    if (value.kind == Kind::Json && value.json->is_string()) {
        return part_is_text && has_part(value.json->as_string(), part);
    }
    return set->holds_any_of(value);
}

bool FilterMatcher::Node::compares(const FieldView& value) const {
    // One value, or one element of a list, must pass every comparison.
    return any_value(value, [&](const auto& one) {
        const std::partial_ordering order = compare(one, operands.front());
        switch (op) {
            case Op::Gt:
                return order > 0;
            case Op::Gte:
                return order >= 0;
            case Op::Lt:
                return order < 0;
            case Op::Lte:
                return order <= 0;
            default:  // Between
                return order >= 0 && compare(one, operands.back()) <= 0;
        }
    });
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
    return holds_for(view_field(chunk, field, path, default_level));
}

bool FilterMatcher::Node::holds_for(const FieldView& value) const {
    switch (op) {
        case Op::Eq:
        case Op::In:
            return set->holds_any_of(value);
        case Op::Ne:
        case Op::Nin:
            return !set->holds_any_of(value);
        case Op::Exists:
            return exists != value.missing();
        case Op::Contains:
            return contains(value);
        default:
            return compares(value);
    }
}

Result<std::vector<std::uint64_t>> FilterMatcher::Node::select_leaf(
    const FieldColumns& columns, std::size_t rows, const CallLimits& limits) const {
    BRAID_TRY(const auto column, columns.column(field, path, rows, limits));
    core::StepCounter steps;
    std::vector<std::uint8_t> holds(column->values.size());
    for (std::size_t i = 0; i < holds.size(); ++i) {
        if (steps.due(cost)) BRAID_CHECK(core::check_limits(limits));
        holds[i] = holds_for(column->values[i]) ? 1 : 0;
    }
    std::vector<std::uint64_t> words((rows + 63) / 64);
    for (std::size_t row = 0; row < rows; ++row) {
        words[row / 64] |= std::uint64_t{holds[column->numbers[row]]} << (row % 64);
    }
    return words;
}

Result<std::vector<std::uint64_t>> FilterMatcher::Node::select(const FieldColumns& columns,
                                                               std::size_t rows,
                                                               const CallLimits& limits) const {
    if (is_leaf()) return select_leaf(columns, rows, limits);
    const std::uint64_t start = op == Op::Or ? 0 : ~std::uint64_t{0};
    std::vector<std::uint64_t> words((rows + 63) / 64, start);
    for (const Node& child : children) {
        BRAID_CHECK(core::check_limits(limits));
        BRAID_TRY(const auto some, child.select(columns, rows, limits));
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (op == Op::Or) {
                words[i] |= some[i];
            } else {
                words[i] &= op == Op::Not ? ~some[i] : some[i];
            }
        }
    }
    return words;
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
void add_operands(Node& node, const Array& values) {
    switch (node.op) {
        case Op::Exists:
            node.exists = values.front().as_bool();
            return;
        case Op::Contains:
            node.part_is_text = values.front().is_string();
            if (node.part_is_text) node.part = values.front().as_string();
            node.cost += 16;  // it reads the whole text
            [[fallthrough]];
        case Op::Eq:
        case Op::Ne:
        case Op::In:
        case Op::Nin:
            node.set.emplace(values, is_name(node.field));
            node.cost += node.set->compound();
            return;
        default:
            for (const Value& value : values) {
                node.operands.push_back(make_operand(value, node.field));
            }
    }
}

template <class Node>
Result<Node> build(const Filter& filter, const Schema& schema) {
    Node node;
    node.op = filter.op;
    for (const Filter& child : filter.children) {
        BRAID_TRY(Node built, build<Node>(child, schema));
        node.cost += built.cost;
        node.children.push_back(std::move(built));
    }
    if (filter.op == Op::And || filter.op == Op::Or || filter.op == Op::Not) return node;
    node.field = field_by_name(filter.field);
    node.path = metadata_path(filter.field);
    node.default_level = schema.levels.default_level;
    const Array values = operand_list(filter);
    if (filter.op != Op::Exists && filter.op != Op::Contains) {
        for (const Value& value : values) {
            BRAID_CHECK(check_operand(filter.field, node.field, value, schema));
        }
    }
    add_operands(node, values);
    return node;
}

}  // namespace

Result<FilterMatcher> FilterMatcher::create(const Filter& filter, const Schema& schema) {
    // Shorthands and the like are added to what a request says, so the bounds are wider than a
    // request's: they keep recursion and memory in check.
    BRAID_CHECK(validate(filter, {.depth = 100,
                                  .clauses = 100'000,
                                  .list = 10'000'000,
                                  .values = 10'000'000,
                                  .bytes = std::size_t{1} << 30}));
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

Result<std::vector<std::uint64_t>> FilterMatcher::select(const FieldColumns& columns,
                                                         std::size_t rows,
                                                         const CallLimits& limits) const {
    return root_->select(columns, rows, limits);
}

std::size_t FilterMatcher::cost() const noexcept {
    return root_->cost;
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
