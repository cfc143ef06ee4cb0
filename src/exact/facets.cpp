#include "braid/exact/facets.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "braid/core/charge.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/docs/metadata_fields.hpp"

namespace braid::exact {
namespace {

/// JSON values in a fixed order, for facets: by type, then by value.
bool facet_less(const Value& a, const Value& b) {
    if (a.is_number() && b.is_number()) return compare_numbers(a, b) < 0;
    if (a.is_string() && b.is_string()) return a.as_string() < b.as_string();
    if (a.is_bool() && b.is_bool()) return !a.as_bool() && b.as_bool();
    return a.type_name() < b.type_name();
}

bool is_scalar(const Value& value) {
    return !value.is_array() && !value.is_object() && !value.is_null();
}

/// The form in which equal values are counted: whole numbers as integers.
Value facet_key(const Value& value) {
    constexpr double above = 0x1p63;
    if (!value.is_double()) return value;
    const double number = value.as_double();
    if (std::trunc(number) != number || number < -above || number >= above) return value;
    return static_cast<std::int64_t>(number);
}

}  // namespace

FacetCounter::FacetCounter(const std::string& field, const Schema& schema, const CallLimits& limits)
    : field_(field),
      schema_(schema),
      limits_(limits),
      counting_(core::apart(limits)),
      counts_(&facet_less) {}

Result<> FacetCounter::add(Value key, std::uint64_t count) {
    const auto [place, is_new] = counts_.try_emplace(std::move(key), 0);
    place->second += count;
    return is_new ? core::charge(counting_, core::printed_value_size(place->first)) : Result<>();
}

Result<> FacetCounter::add(const Chunk& chunk) {
    if (field_.empty()) {
        for (std::string& field : docs::fields_with_values(chunk.metadata)) {
            BRAID_CHECK(add(Value(std::move(field))));
        }
        return {};
    }
    const auto value = docs::field_value(chunk, field_, schema_);
    if (!value) return {};
    if (is_scalar(*value)) BRAID_CHECK(add(facet_key(*value)));
    if (!value->is_array()) return {};
    std::set<Value, Less> once(&facet_less);
    for (const Value& element : value->as_array()) {
        if (!is_scalar(element)) continue;
        const Value key = facet_key(element);
        if (once.insert(key).second) BRAID_CHECK(add(key));
    }
    return {};
}

Result<std::vector<FacetCount>> FacetCounter::most_frequent(std::size_t limit) const {
    std::vector<FacetCount> facets;
    for (const auto& [value, number] : counts_) facets.push_back({value, number});
    std::ranges::stable_sort(facets, std::greater(), &FacetCount::count);
    if (facets.size() > limit) facets.resize(limit);
    for (const FacetCount& facet : facets) {
        BRAID_CHECK(core::charge(limits_, core::printed_value_size(facet.value)));
    }
    return facets;
}

}  // namespace braid::exact
