#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/docs/column_format.hpp"
#include "braid/docs/comparison.hpp"
#include "braid/docs/packed_ints.hpp"
#include "braid/docs/string_table.hpp"
#include "braid/result.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/sections.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::docs {

inline Bits make_bits(std::uint64_t size) {
    return Bits(static_cast<std::size_t>(size / 64 + (size % 64 != 0 ? 1 : 0)));
}
inline void set_bit(Bits& bits, std::uint64_t i) {
    bits[static_cast<std::size_t>(i / 64)] |= std::uint64_t{1} << (i % 64);
}
inline void clear_bit(Bits& bits, std::uint64_t i) {
    bits[static_cast<std::size_t>(i / 64)] &= ~(std::uint64_t{1} << (i % 64));
}
inline bool has_bit(const Bits& bits, std::uint64_t i) {
    return (bits[static_cast<std::size_t>(i / 64)] >> (i % 64) & 1) != 0;
}
inline std::uint64_t count_bits(const Bits& bits) {
    std::uint64_t count = 0;
    for (const std::uint64_t word : bits) count += static_cast<unsigned>(std::popcount(word));
    return count;
}
/// Codes or rows from `first` to before `last`.
struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};
void set_range(Bits& bits, Range range);

/// The order in which a column keeps its numbers: of equal ones integers first, then by their bits.
bool is_number_before(const Value& a, const Value& b) noexcept;
/// The nine bytes in which a column stores one.
void write_number(store::ByteWriter& out, const Value& number);

/// One field of all rows: a sorted list of distinct values, each with a code, and the codes of each
/// row. Borrows from the section's source. Every failure is Corruption. Safe for concurrent use.
class Column {
public:
    /// Reads what ColumnsBuilder wrote, for `rows` rows.
    static Result<Column> open(const store::Section& data, std::uint64_t rows);
    /// Texts that are not times, one per row: row i has text number codes[i], or number i if there
    /// are no codes.
    static Column of_texts(const StringTable& texts, std::optional<PackedInts> codes,
                           std::uint64_t rows);

    // Where the codes of each type of value begin and end.
    Range numbers() const noexcept { return {kFirstCode, kFirstCode + number_count_}; }
    Range texts() const noexcept { return {numbers().last, numbers().last + texts_.size()}; }
    Range times() const noexcept { return {texts().last, texts().last + times_.size()}; }
    Range others() const noexcept { return {times().last, times().last + other_count_}; }
    std::uint64_t codes() const noexcept { return others().last; }

    /// The value of a code. A time comes as text.
    Result<Value> value(std::uint64_t code) const;
    const StringTable& text_table() const noexcept { return texts_; }
    /// The codes of numbers equal to the operand: from the first that is not below it to the first
    /// above.
    Result<Range> equal_numbers(const Value& operand) const;
    Result<Range> equal_times(Timestamp operand) const;
    /// Which texts are times, as (time, code), in order of time.
    Result<> each_timed_text(const std::function<void(Timestamp, std::uint64_t code)>& use) const;

    /// The rows that have a value, in order, several at a time.
    struct Batch {
        std::vector<std::uint64_t> rows;
        std::vector<RowKind> kinds;         // empty: each has one value
        std::vector<std::uint64_t> starts;  // in `codes`, one more than rows; empty as above
        std::vector<std::uint64_t> codes;   // each is below codes()
    };
    Result<> each_batch(const std::function<Result<>(const Batch&)>& use) const;
    /// How many rows have a value, and some of them, starting with number `first`.
    std::uint64_t present() const noexcept { return present_; }
    Result<> read_rows(std::uint64_t first, Batch& batch) const;

    // As stored, each in its own order.
    Result<Value> number(std::uint64_t index) const;
    const PackedInts& text_times() const noexcept { return text_times_; }
    const PackedInts& timed_texts() const noexcept { return timed_texts_; }
    const PackedInts& time_bits() const noexcept { return times_; }
    /// The bytes that write_value made of it.
    Result<std::span<const std::byte>> other(std::uint64_t index) const;

private:
    Result<> open_rows(const std::vector<store::Section>& parts);
    Result<> open_values(const std::vector<store::Section>& parts);
    Result<> read_batch(std::uint64_t first, std::uint64_t count, Batch& batch) const;
    Result<> read_codes(std::uint64_t first, std::uint64_t count, Batch& batch) const;
    Result<> check_batch(const Batch& batch) const;

    std::uint64_t row_count_ = 0;  // of the segment
    std::uint64_t present_ = 0;    // rows that have a value
    std::optional<PackedInts> rows_;
    std::optional<PackedInts> kinds_;
    std::optional<PackedInts> starts_;
    std::optional<PackedInts> codes_;  // none: row i has text i
    bool codes_are_texts_ = false;     // they are numbers of texts, relative to the first
    store::Section numbers_;
    std::uint64_t number_count_ = 0;
    StringTable texts_;
    PackedInts text_times_;
    PackedInts timed_texts_;
    PackedInts times_;
    PackedInts other_starts_;
    store::Section others_;
    std::uint64_t other_count_ = 0;
};

}  // namespace braid::docs
