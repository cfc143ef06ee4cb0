#include "braid/docs/comparison.hpp"

#include <cstring>
#include <utility>

namespace braid::docs {
namespace {

using Op = Filter::Op;
using Bound = Comparison::Bound;

// Each compares a field's value with a bound.
std::partial_ordering compare(std::string_view text, const Bound& bound) {
    if (!bound.value.is_string()) return std::partial_ordering::unordered;
    if (bound.time) {
        if (const auto time = time_of(text)) return *time <=> *bound.time;
    }
    return text <=> std::string_view(bound.value.as_string());
}

std::partial_ordering compare(Timestamp time, const Bound& bound) {
    return bound.time ? time <=> *bound.time : std::partial_ordering::unordered;
}

std::partial_ordering compare(const Value& value, const Bound& bound) {
    const Value& other = bound.value;
    if (value.is_number() && other.is_number()) return compare_numbers(value, other);
    if (value.is_bool() && other.is_bool()) return value.as_bool() <=> other.as_bool();
    return std::partial_ordering::unordered;  // bounds are never of the other types
}

Bound make_bound(const Value& value, Field field) {
    Bound bound{value, std::nullopt};
    if (value.is_string() && !is_name(field)) bound.time = time_of(value.as_string());
    return bound;
}

}  // namespace

bool passes(Op op, std::partial_ordering order) noexcept {
    switch (op) {
        case Op::Gt:
            return order > 0;
        case Op::Gte:
            return order >= 0;
        case Op::Lt:
            return order < 0;
        default:  // Lte
            return order <= 0;
    }
}

bool has_part(std::string_view text, std::string_view part) {
    return part.empty() || (!text.empty() && ::memmem(text.data(), text.size(), part.data(),
                                                      part.size()) != nullptr);
}

Comparison::Comparison(const Filter& filter, std::string level)
    : op(filter.op),
      name(filter.field),
      field(field_by_name(filter.field)),
      default_level(std::move(level)) {
    const Value& operand = filter.operand;
    switch (op) {
        case Op::Exists:
            exists = operand.as_bool();
            return;
        case Op::Contains:
            if (operand.is_string()) part = operand.as_string();
            cost += 16;  // it reads the whole text
            [[fallthrough]];
        case Op::Eq:
        case Op::Ne:
            set.emplace(Array{operand}, is_name(field));
            break;
        case Op::In:
        case Op::Nin:
            set.emplace(operand.as_array(), is_name(field));
            break;
        case Op::Between:
            for (const Value& value : operand.as_array()) {
                bounds.push_back(make_bound(value, field));
            }
            return;
        default:
            bounds.push_back(make_bound(operand, field));
            return;
    }
    cost += set->compound().size();
}

bool Comparison::contains(const FieldView& value) const {
    using Kind = FieldView::Kind;
    if (value.kind == Kind::Text) return part && has_part(value.text, *part);
    if (value.kind == Kind::Json && value.json->is_string()) {
        return part && has_part(value.json->as_string(), *part);
    }
    return set->holds_any_of(value);
}

bool Comparison::compares(const FieldView& value) const {
    // One value, or one element of a list, must pass every comparison.
    return any_value(value, [&](const auto& one) {
        const std::partial_ordering order = compare(one, bounds.front());
        if (op != Op::Between) return passes(op, order);
        return order >= 0 && compare(one, bounds.back()) <= 0;
    });
}

bool Comparison::holds_for(const FieldView& value) const {
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

}  // namespace braid::docs
