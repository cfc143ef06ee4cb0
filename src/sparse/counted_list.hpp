#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "braid/sparse/label_counts.hpp"
#include "braid/sparse/term_source.hpp"

namespace braid::sparse {

/// What all lists of a version 4 index are written with.
struct CountedContext {
    std::uint32_t rows = 0;
    std::uint32_t fields = 1;
    std::uint32_t main_field = 0;
    std::span<const std::uint8_t> length_classes;  // per row
    std::span<const std::uint32_t> label_numbers;  // per row; empty: one label
    std::uint32_t labels = 0;
};

/// Turns the rows of a term into the bytes of a run (fewer than kListRows) or of a list.
class CountedListWriter {
public:
    explicit CountedListWriter(const CountedContext& context)
        : context_(context), labels_(context.label_numbers, context.labels) {}

    /// Replaces `out`. `offset`: where it will lie in the postings section.
    void write(const CountedRows& term, bool column, std::uint64_t offset, Bytes& out);

private:
    /// Whether the row holds the term at most this many times, all of them in the main field.
    bool is_plain(const std::uint32_t* counts, std::uint32_t most) const noexcept {
        const std::uint32_t count = counts[context_.main_field];
        return count <= most && count == total_of(counts, context_.fields);
    }
    void write_run(const CountedRows& term, Bytes& out) const;
    /// The directory of windows, the rows and their codes.
    void put_rows(const CountedRows& term, std::uint32_t width, Bytes& out) const;
    /// The same as distances from row to row.
    void put_gaps(const CountedRows& term, std::uint32_t width, Bytes& out);
    /// How many entries that takes.
    std::uint32_t count_gaps(std::span<const std::uint32_t> rows) const noexcept;
    void put_column(const CountedRows& term, std::uint64_t offset, Bytes& out) const;
    void put_apart(const CountedRows& term, bool column, std::uint32_t width, Bytes& out) const;

    CountedContext context_;
    LabelCounts labels_;
    std::vector<std::uint32_t> totals_;   // of each row of the term
    std::vector<std::uint32_t> apart_;    // rows whose counts are stored apart, by place
    std::vector<std::uint32_t> numbers_;  // of each row's entry
};

/// Where in the postings section the half bytes of a column begin if its list has been written up
/// to `offset`.
constexpr std::uint64_t column_begin(std::uint64_t offset) noexcept {
    return (offset + 63) / 64 * 64;
}

/// Counts stored apart: of entries whose code does not say everything.
class CountsApart {
public:
    CountsApart() = default;
    /// Corruption if `bytes` cannot be such counts.
    static Result<CountsApart> create(std::span<const std::uint8_t> bytes, std::uint32_t width,
                                      std::uint32_t fields);

    /// Counts of an entry, or of a row where the list is a column. False if they are not stored
    /// apart.
    bool find(std::uint32_t number, FieldCounts& counts) const noexcept;
    /// The same, over all fields together; 0 if not stored apart.
    std::uint32_t total(std::uint32_t number) const noexcept;

    /// For entries that come in increasing order.
    class Cursor {
    public:
        bool find(const CountsApart& apart, std::uint32_t number, FieldCounts& counts) noexcept {
            while (place_ < apart.size_ && apart.number(place_) < number) ++place_;
            if (place_ == apart.size_ || apart.number(place_) != number) return false;
            apart.read(place_, counts);
            return true;
        }

    private:
        std::uint32_t place_ = 0;
    };

private:
    std::uint32_t number(std::uint32_t place) const noexcept {
        return load<std::uint32_t>(numbers_, place);
    }
    void read(std::uint32_t place, FieldCounts& counts) const noexcept;
    std::uint32_t place_of(std::uint32_t number) const noexcept;

    const std::uint8_t* numbers_ = nullptr;  // u32 each, ascending
    const std::uint8_t* counts_ = nullptr;   // of each, one per field
    std::uint32_t size_ = 0;
    std::uint8_t width_ = 1;
    std::uint8_t fields_ = 1;
};

}  // namespace braid::sparse
