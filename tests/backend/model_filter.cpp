#include <algorithm>
#include <map>
#include <optional>

#include "backend/model.hpp"
#include "braid/core/rfc3339.hpp"

namespace braid::testing {
namespace {

using Op = Filter::Op;

/// A field of a chunk as JSON; ids and labels are names, never times.
struct Found {
    std::optional<Value> value;
    bool is_name = false;
    bool is_time = false;
};

Found find_field(const std::string& field, const Chunk& chunk, const Schema& schema) {
    if (field == "chunk_id") return {Value(chunk.chunk_id), true};
    if (field == "document_id") return {Value(chunk.document_id), true};
    if (field == "sensitivity") {
        return {Value(chunk.sensitivity.value_or(schema.levels.default_level)), true};
    }
    if (field == "visibility_scope" && !chunk.visibility_scope.empty()) {
        return {Value(Array(chunk.visibility_scope.begin(), chunk.visibility_scope.end())), true};
    }
    if (field == "chunk_index" && chunk.chunk_index) return {Value(*chunk.chunk_index)};
    if (field == "title" && chunk.title) return {Value(*chunk.title)};
    if (field == "section_title" && chunk.section_title) return {Value(*chunk.section_title)};
    if (field == "created_at" && chunk.created_at) {
        return {.value = Value(core::print_rfc3339(*chunk.created_at)), .is_time = true};
    }
    const std::string path = field.starts_with("metadata.") ? field.substr(9) : field;
    const Value* value = find_path(chunk.metadata, path);
    return {value != nullptr ? std::optional<Value>(*value) : std::nullopt};
}

/// -1, 0 or 1; nothing if the two cannot be compared.
std::optional<int> order(const Value& a, const Value& b, bool is_name) {
    const auto sign = [](const auto& x, const auto& y) { return x < y ? -1 : (y < x ? 1 : 0); };
    if (a.is_string() && b.is_string()) {
        const auto x = core::parse_rfc3339(a.as_string());
        const auto y = core::parse_rfc3339(b.as_string());
        if (x && y && !is_name) return sign(*x, *y);
        return sign(a.as_string(), b.as_string());
    }
    if (a.is_number() && b.is_number()) {
        // 64 bits of mantissa: every int64 and every double is exact.
        const auto wide = [](const Value& v) {
            return v.is_int() ? static_cast<long double>(v.as_int())
                              : static_cast<long double>(v.as_double());
        };
        return sign(wide(a), wide(b));
    }
    if (a.is_bool() && b.is_bool()) return sign(a.as_bool(), b.as_bool());
    return a == b ? std::optional(0) : std::nullopt;
}

/// The value itself and, of a list, its elements.
std::vector<Value> candidates(const Value& value) {
    std::vector<Value> all{value};
    if (value.is_array()) {
        all.insert(all.end(), value.as_array().begin(), value.as_array().end());
    }
    return all;
}

bool compares(const Found& found, const Value& operand, bool (*test)(int)) {
    if (!found.value) return false;
    for (const Value& one : candidates(*found.value)) {
        const auto result = order(one, operand, found.is_name);
        if (result && test(*result)) return true;
    }
    return false;
}

bool equals(const Found& found, const Value& operand) {
    return compares(found, operand, [](int o) { return o == 0; });
}

bool in_list(const Found& found, const Value& list) {
    return std::ranges::any_of(list.as_array(),
                               [&](const Value& operand) { return equals(found, operand); });
}

bool contains(const Found& found, const Value& operand) {
    if (found.value && found.value->is_string() && !found.is_time) {
        return operand.is_string() &&
               found.value->as_string().find(operand.as_string()) != std::string::npos;
    }
    return equals(found, operand);
}

bool between(const Found& found, const Value& low, const Value& high) {
    if (!found.value) return false;
    for (const Value& one : candidates(*found.value)) {
        const auto from = order(one, low, found.is_name);
        const auto to = order(one, high, found.is_name);
        if (from && *from >= 0 && to && *to <= 0) return true;
    }
    return false;
}

}  // namespace

bool model_matches(const Filter& filter, const Chunk& chunk, const Schema& schema) {
    const auto matches = [&](const Filter& child) { return model_matches(child, chunk, schema); };
    if (filter.op == Op::And) return std::ranges::all_of(filter.children, matches);
    if (filter.op == Op::Or) return std::ranges::any_of(filter.children, matches);
    if (filter.op == Op::Not) return !matches(filter.children.at(0));
    const Found found = find_field(filter.field, chunk, schema);
    const Value& operand = filter.operand;
    switch (filter.op) {
        case Op::Eq:
            return equals(found, operand);
        case Op::Ne:
            return !equals(found, operand);
        case Op::Gt:
            return compares(found, operand, [](int o) { return o > 0; });
        case Op::Gte:
            return compares(found, operand, [](int o) { return o >= 0; });
        case Op::Lt:
            return compares(found, operand, [](int o) { return o < 0; });
        case Op::Lte:
            return compares(found, operand, [](int o) { return o <= 0; });
        case Op::In:
            return in_list(found, operand);
        case Op::Nin:
            return !in_list(found, operand);
        case Op::Exists:
            return found.value.has_value() == operand.as_bool();
        case Op::Contains:
            return contains(found, operand);
        default:
            return between(found, operand.as_array().at(0), operand.as_array().at(1));
    }
}

std::vector<FacetCount> Model::facets(const ReadScope& scope, const std::string& field) const {
    std::vector<FacetCount> facets;
    for (const Chunk* chunk : chunks(scope)) {
        const Found found = find_field(field, *chunk, schema_);
        if (!found.value) continue;
        std::vector<Value> once;
        for (const Value& one :
             found.value->is_array() ? found.value->as_array() : Array{*found.value}) {
            const bool scalar = !one.is_null() && !one.is_array() && !one.is_object();
            if (scalar && std::ranges::find(once, one) == once.end()) once.push_back(one);
        }
        for (const Value& one : once) {
            const auto same = std::ranges::find(facets, one, &FacetCount::value);
            if (same == facets.end()) {
                facets.push_back({one, 1});
            } else {
                ++same->count;
            }
        }
    }
    std::ranges::sort(facets, [](const FacetCount& a, const FacetCount& b) {
        if (a.count != b.count) return a.count > b.count;
        const auto values = order(a.value, b.value, true);
        if (values) return *values < 0;
        return a.value.type_name() < b.value.type_name();
    });
    return facets;
}

}  // namespace braid::testing
