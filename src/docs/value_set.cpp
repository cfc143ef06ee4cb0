#include "braid/docs/value_set.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace braid::docs {
namespace {

/// A number as an integer, if it is one and fits.
std::optional<std::int64_t> whole(const Value& number) {
    constexpr double above = 0x1p63;
    if (number.is_int()) return number.as_int();
    const double value = number.as_double();
    if (std::trunc(value) != value || value < -above || value >= above) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

template <class T>
void sort_once(std::vector<T>& values) {
    std::ranges::sort(values);
    const auto repeated = std::ranges::unique(values);
    values.erase(repeated.begin(), repeated.end());
}

}  // namespace

ValueSet::ValueSet(const Array& values, bool are_names) {
    for (const Value& value : values) {
        if (value.is_string()) {
            texts_.push_back(value.as_string());
            if (are_names) continue;
            if (const auto time = time_of(value.as_string())) times_.push_back(*time);
        } else if (value.is_number()) {
            if (const auto integer = whole(value)) {
                integers_.push_back(*integer);
            } else if (!std::isnan(value.as_double())) {  // NaN equals nothing
                doubles_.push_back(value.as_double());
            }
        } else if (value.is_bool()) {
            (value.as_bool() ? true_ : false_) = true;
        } else if (value.is_null()) {
            null_ = true;
        } else {
            compound_.push_back(value);
        }
    }
    sort_once(texts_);
    sort_once(times_);
    sort_once(integers_);
    sort_once(doubles_);
}

bool ValueSet::holds_any_of(const FieldView& field) const {
    return any_value(field, [&](const auto& one) { return holds(one); });
}

bool ValueSet::holds(std::string_view text) const {
    if (std::ranges::binary_search(texts_, text, std::less<>())) return true;
    // Another way to write the same time.
    if (times_.empty()) return false;
    const auto time = time_of(text);
    return time && holds(*time);
}

bool ValueSet::holds(Timestamp time) const {
    return std::ranges::binary_search(times_, time);
}

bool ValueSet::holds(const Value& value) const {
    if (value.is_number()) return holds_number(value);
    if (value.is_bool()) return value.as_bool() ? true_ : false_;
    if (value.is_null()) return null_;
    return std::ranges::find(compound_, value) != compound_.end();
}

bool ValueSet::holds_number(const Value& number) const {
    if (const auto integer = whole(number)) {
        return std::ranges::binary_search(integers_, *integer);
    }
    // NaN equals nothing, though a search would find it anywhere.
    return !std::isnan(number.as_double()) &&
           std::ranges::binary_search(doubles_, number.as_double());
}

}  // namespace braid::docs
