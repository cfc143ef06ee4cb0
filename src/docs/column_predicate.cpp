#include "braid/docs/column_predicate.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace braid::docs {
namespace {

using Op = Filter::Op;

/// Codes in ascending order; `equal` are those that equal the operand.
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

Result<Range> equal_texts(const Column& column, const std::string& operand) {
    const std::uint64_t first_code = column.texts().first;
    BRAID_TRY(const std::uint64_t place, column.text_table().lower_bound(operand));
    if (place == column.text_table().size()) {
        return Range{first_code + place, first_code + place};
    }
    BRAID_TRY(const std::string found, column.text_table().at(place));
    return Range{first_code + place, first_code + place + (found == operand ? 1U : 0U)};
}

/// The codes of lists and objects contained in a set.
Result<> add_compound(const Column& column, const ValueSet& set, Bits& codes) {
    if (set.compound().empty()) return {};
    for (std::uint64_t code = column.others().first; code < column.others().last; ++code) {
        BRAID_TRY(const Value value, column.value(code));
        if (std::ranges::find(set.compound(), value) != set.compound().end()) set_bit(codes, code);
    }
    return {};
}

/// The codes of all values contained in a set.
Result<Bits> equal_codes(const Column& column, const ValueSet& set) {
    Bits codes = make_bits(column.codes());
    if (set.has_null()) set_bit(codes, kNullCode);
    if (set.has(false)) set_bit(codes, kFalseCode);
    if (set.has(true)) set_bit(codes, kTrueCode);
    const auto add_number = [&](const Value& number) -> Result<> {
        BRAID_TRY(const Range equal, column.equal_numbers(number));
        set_range(codes, equal);
        return {};
    };
    for (const std::int64_t number : set.integers()) BRAID_CHECK(add_number(number));
    for (const double number : set.doubles()) BRAID_CHECK(add_number(number));
    for (const std::string& text : set.texts()) {
        BRAID_TRY(const Range equal, equal_texts(column, text));
        set_range(codes, equal);
    }
    if (!set.times().empty()) {
        // Other ways to write the same times.
        BRAID_CHECK(column.each_timed_text([&](Timestamp said, std::uint64_t code) {
            if (std::ranges::binary_search(set.times(), said)) set_bit(codes, code);
        }));
    }
    for (const Timestamp time : set.times()) {
        BRAID_TRY(const Range times, column.equal_times(time));
        set_range(codes, times);
    }
    BRAID_CHECK(add_compound(column, set, codes));
    return codes;
}

Result<Bits> ordered_codes(const Column& column, Op op, const Comparison::Bound& bound) {
    const auto& [operand, time] = bound;
    Bits codes = make_bits(column.codes());
    if (operand.is_bool()) {
        if (passes(op, false <=> operand.as_bool())) set_bit(codes, kFalseCode);
        if (passes(op, true <=> operand.as_bool())) set_bit(codes, kTrueCode);
    } else if (operand.is_number()) {
        if (operand.is_double() && std::isnan(operand.as_double())) return codes;
        BRAID_TRY(const Range equal, column.equal_numbers(operand));
        set_range(codes, in_order(op, column.numbers(), equal));
    } else if (operand.is_string()) {
        BRAID_TRY(const Range equal, equal_texts(column, operand.as_string()));
        set_range(codes, in_order(op, column.texts(), equal));
        if (!time) return codes;
        // Two times compare as times, whatever their texts.
        BRAID_CHECK(column.each_timed_text([&](Timestamp said, std::uint64_t code) {
            if (passes(op, said <=> *bound.time)) {
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

Result<ColumnPredicate> order(const Column& column, const Comparison& comparison) {
    const bool between = comparison.op == Op::Between;
    ColumnPredicate predicate;
    BRAID_TRY(predicate.one,
              ordered_codes(column, between ? Op::Gte : comparison.op, comparison.bounds.front()));
    if (between) {
        BRAID_TRY(const Bits below, ordered_codes(column, Op::Lte, comparison.bounds.back()));
        for (std::size_t i = 0; i < below.size(); ++i) predicate.one[i] &= below[i];
    }
    predicate.element = predicate.one;
    return predicate;
}

/// A row's text matches if it contains the part; everything else, elements of lists included, must
/// match as a whole.
Result<ColumnPredicate> contains(const Column& column, const Comparison& comparison) {
    ColumnPredicate predicate;
    BRAID_TRY(predicate.element, equal_codes(column, *comparison.set));
    predicate.one = predicate.element;
    const std::uint64_t first = column.texts().first;
    BRAID_CHECK(
        column.text_table().each(0, column.text_table().size(),
                                 [&](std::uint64_t number, std::string_view text) -> Result<> {
                                     if (comparison.part && has_part(text, *comparison.part)) {
                                         set_bit(predicate.one, first + number);
                                     } else {
                                         clear_bit(predicate.one, first + number);
                                     }
                                     return {};
                                 }));
    return predicate;
}

}  // namespace

Result<ColumnPredicate> ColumnPredicate::create(const Column& column,
                                                const Comparison& comparison) {
    if (comparison.op == Op::Contains) return contains(column, comparison);
    if (!comparison.set) return order(column, comparison);
    ColumnPredicate predicate;
    BRAID_TRY(predicate.one, equal_codes(column, *comparison.set));
    predicate.element = predicate.one;
    return predicate;
}

}  // namespace braid::docs
