#include "braid/docs/filter_matcher.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "braid/core/filter_ops.hpp"
#include "braid/core/limits.hpp"
#include "braid/core/rfc3339.hpp"
#include "braid/docs/field_view.hpp"

namespace braid::docs {
namespace {

using Op = Filter::Op;

}  // namespace

struct FilterMatcher::Node {
    Op op = Op::And;
    std::optional<Comparison> comparison;  // of all but And, Or and Not
    std::vector<Node> children;
    std::size_t cost = 1;

    bool matches(const Chunk& chunk) const;
    Result<Bits> select(const FilterColumns& columns, std::size_t rows,
                        const CallLimits& limits) const;
};

bool FilterMatcher::Node::matches(const Chunk& chunk) const {
    switch (op) {
        case Op::And:
            return std::ranges::all_of(children, [&](const Node& n) { return n.matches(chunk); });
        case Op::Or:
            return std::ranges::any_of(children, [&](const Node& n) { return n.matches(chunk); });
        case Op::Not:
            return !children.front().matches(chunk);
        default:
            return comparison->holds_for(chunk);
    }
}

/// Bits behind the last row may be set.
Result<Bits> FilterMatcher::Node::select(const FilterColumns& columns, std::size_t rows,
                                         const CallLimits& limits) const {
    if (comparison) return columns.compare(*comparison, rows, limits);
    const std::uint64_t start = op == Op::Or ? 0 : ~std::uint64_t{0};
    Bits words((rows + 63) / 64, start);
    for (const Node& child : children) {
        BRAID_CHECK(core::check_limits(limits));
        BRAID_TRY(const Bits some, child.select(columns, rows, limits));
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
                            ", which cannot be compared with a " +
                            std::string(operand.type_name()));
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

Result<> check_operands(const Filter& filter, const Schema& schema) {
    if (filter.op == Op::Exists || filter.op == Op::Contains) return {};
    const Field field = field_by_name(filter.field);
    if (filter.op != Op::In && filter.op != Op::Nin && filter.op != Op::Between) {
        return check_operand(filter.field, field, filter.operand, schema);
    }
    for (const Value& value : filter.operand.as_array()) {
        BRAID_CHECK(check_operand(filter.field, field, value, schema));
    }
    return {};
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
    if (core::is_logical(filter.op)) return node;
    BRAID_CHECK(check_operands(filter, schema));
    node.comparison.emplace(filter, schema.levels.default_level);
    node.cost += node.comparison->cost - 1;
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

Result<Bits> FilterMatcher::select(const FilterColumns& columns, std::size_t rows,
                                   const CallLimits& limits) const {
    BRAID_TRY(Bits words, root_->select(columns, rows, limits));
    if (rows % 64 != 0) words.back() &= (std::uint64_t{1} << (rows % 64)) - 1;
    return words;
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
