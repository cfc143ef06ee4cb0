#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "braid/docs/field_view.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::docs {

/// The operands of $eq, $in and the like, kept by type so that a look-up takes logarithmic time.
/// Sorted rather than hashed: nobody can choose operands that all collide.
class ValueSet {
public:
    /// `are_names`: strings among them are never times.
    ValueSet(const Array& values, bool are_names);

    /// Whether the field's value, or one element of it, equals a member.
    bool holds_any_of(const FieldView& field) const;

    // The members by type, each once and sorted.
    const std::vector<std::string>& texts() const noexcept { return texts_; }
    const std::vector<Timestamp>& times() const noexcept { return times_; }
    const std::vector<std::int64_t>& integers() const noexcept { return integers_; }
    const std::vector<double>& doubles() const noexcept { return doubles_; }
    bool has(bool value) const noexcept { return value ? true_ : false_; }
    bool has_null() const noexcept { return null_; }
    /// Lists and objects, as given; they are compared one by one.
    const std::vector<Value>& compound() const noexcept { return compound_; }

private:
    bool holds(std::string_view text) const;
    bool holds(Timestamp time) const;
    bool holds(const Value& value) const;
    bool holds_number(const Value& number) const;

    std::vector<std::string> texts_;
    std::vector<Timestamp> times_;        // denoted by some of the texts
    std::vector<std::int64_t> integers_;  // whole numbers, however they were written
    std::vector<double> doubles_;         // the others
    bool true_ = false;
    bool false_ = false;
    bool null_ = false;
    std::vector<Value> compound_;
};

}  // namespace braid::docs
