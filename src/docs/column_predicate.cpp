#include "braid/docs/column_predicate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "braid/docs/field_view.hpp"

namespace braid::docs {
namespace {

using Op = Filter::Op;

std::optional<Timestamp> operand_time(const Value& operand, bool are_names) {
    if (are_names || !operand.is_string()) return std::nullopt;
    return time_of(operand.as_string());
}

/// Of codes in ascending order, where `equal` are those that equal the operand.
Range in_order(Op op, Range all, Range equal) {
    switch (op) {
        case Op::Gt:
            return {equal.last, all.last};
        case Op::Gte:
            return {equal.first, all.last};
        case Op::Lt:
            return {all.first, equal.first};
        default:  // Lte
            return {all.first, equal.last};
    }
}

template <class T>
bool holds_order(Op op, const T& value, const T& operand) {
    switch (op) {
        case Op::Gt:
            return value > operand;
        case Op::Gte:
            return value >= operand;
        case Op::Lt:
            return value < operand;
        default:  // Lte
            return value <= operand;
    }
}

Result<Range> equal_texts(const Column& column, const std::string& operand) {
    const std::uint64_t first_code = column.texts().first;
    BRAID_TRY(const std::uint64_t place, column.text_table().lower_bound(operand));
    if (place == column.text_table().size()) {
        return Range{first_code + place, first_code + place};
    }
    BRAID_TRY(const std::string found, column.text_table().at(place));
    return Range{first_code + place, first_code + place + (found == operand ? 1U : 0U)};
}

/// Adds the codes of all values that equal the operand; false if that is a list or an object.
Result<bool> add_equal(const Column& column, const Value& operand, bool are_names, Bits& codes) {
    if (operand.is_null()) {
        set_bit(codes, kNullCode);
    } else if (operand.is_bool()) {
        set_bit(codes, operand.as_bool() ? kTrueCode : kFalseCode);
    } else if (operand.is_number()) {
        if (operand.is_double() && std::isnan(operand.as_double())) return true;
        BRAID_TRY(const Range equal, column.equal_numbers(operand));
        set_range(codes, equal);
    } else if (operand.is_string()) {
        BRAID_TRY(const Range equal, equal_texts(column, operand.as_string()));
        set_range(codes, equal);
        const auto time = operand_time(operand, are_names);
        if (!time) return true;
        // Other ways to write the same time.
        BRAID_CHECK(column.each_timed_text([&](Timestamp said, std::uint64_t code) {
            if (said == *time) set_bit(codes, code);
        }));
        BRAID_TRY(const Range times, column.equal_times(*time));
        set_range(codes, times);
    } else {
        return false;
    }
    return true;
}

Result<ColumnPredicate> equality(const Column& column, const Array& operands, bool are_names) {
    ColumnPredicate predicate{make_bits(column.codes()), {}, {}};
    for (const Value& operand : operands) {
        BRAID_TRY(const bool simple, add_equal(column, operand, are_names, predicate.one));
        if (!simple) predicate.whole.push_back(operand);
    }
    if (!predicate.whole.empty()) {
        for (std::uint64_t code = column.others().first; code < column.others().last; ++code) {
            BRAID_TRY(const Value value, column.value(code));
            if (std::ranges::find(predicate.whole, value) != predicate.whole.end()) {
                set_bit(predicate.one, code);
            }
        }
    }
    predicate.element = predicate.one;
    return predicate;
}

Result<Bits> ordered_codes(const Column& column, Op op, const Value& operand, bool are_names) {
    Bits codes = make_bits(column.codes());
    if (operand.is_bool()) {
        if (holds_order(op, false, operand.as_bool())) set_bit(codes, kFalseCode);
        if (holds_order(op, true, operand.as_bool())) set_bit(codes, kTrueCode);
    } else if (operand.is_number()) {
        if (operand.is_double() && std::isnan(operand.as_double())) return codes;
        BRAID_TRY(const Range equal, column.equal_numbers(operand));
        set_range(codes, in_order(op, column.numbers(), equal));
    } else if (operand.is_string()) {
        BRAID_TRY(const Range equal, equal_texts(column, operand.as_string()));
        set_range(codes, in_order(op, column.texts(), equal));
        const auto time = operand_time(operand, are_names);
        if (!time) return codes;
        // Two times compare as times, whatever their texts are.
        BRAID_CHECK(column.each_timed_text([&](Timestamp said, std::uint64_t code) {
            if (holds_order(op, said, *time)) {
                set_bit(codes, code);
            } else {
                clear_bit(codes, code);
            }
        }));
        BRAID_TRY(const Range times, column.equal_times(*time));
        set_range(codes, in_order(op, column.times(), times));
    }
    return codes;
}

Result<ColumnPredicate> order(const Column& column, const Filter& filter, bool are_names) {
    ColumnPredicate predicate;
    if (filter.op == Op::Between) {
        const Array& bounds = filter.operand.as_array();
        BRAID_TRY(predicate.one, ordered_codes(column, Op::Gte, bounds.front(), are_names));
        BRAID_TRY(const Bits below, ordered_codes(column, Op::Lte, bounds.back(), are_names));
        for (std::size_t i = 0; i < below.size(); ++i) predicate.one[i] &= below[i];
    } else {
        BRAID_TRY(predicate.one, ordered_codes(column, filter.op, filter.operand, are_names));
    }
    predicate.element = predicate.one;
    return predicate;
}

/// A text of a row matches by a part of it; all else, elements of lists among it, as a whole.
Result<ColumnPredicate> contains(const Column& column, const Filter& filter, bool are_names) {
    BRAID_TRY(ColumnPredicate predicate, equality(column, {filter.operand}, are_names));
    const std::uint64_t first = column.texts().first;
    const std::string part = filter.operand.is_string() ? filter.operand.as_string() : "";
    BRAID_CHECK(column.text_table().each(
        0, column.text_table().size(),
        [&](std::uint64_t number, std::string_view text) -> Result<> {
            const bool found =
                filter.operand.is_string() &&
                (part.empty() || (!text.empty() && ::memmem(text.data(), text.size(), part.data(),
                                                            part.size()) != nullptr));
            if (found) {
                set_bit(predicate.one, first + number);
            } else {
                clear_bit(predicate.one, first + number);
            }
            return {};
        }));
    return predicate;
}

}  // namespace

Result<ColumnPredicate> ColumnPredicate::create(const Column& column, const Filter& filter,
                                                bool are_names) {
    switch (filter.op) {
        case Op::Eq:
        case Op::Ne:
            return equality(column, {filter.operand}, are_names);
        case Op::In:
        case Op::Nin:
            return equality(column, filter.operand.as_array(), are_names);
        case Op::Contains:
            return contains(column, filter, are_names);
        default:
            return order(column, filter, are_names);
    }
}

}  // namespace braid::docs
