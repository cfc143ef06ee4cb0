#pragma once

#include <cstdint>
#include <span>

#include "braid/sparse/index_format.hpp"
#include "braid/sparse/label_counts.hpp"

namespace braid::sparse {

/// What all lists of an index are written with.
struct ListContext {
    std::uint32_t rows = 0;
    std::uint32_t columns = 0;                     // terms with smaller ids are columns
    std::span<const std::uint8_t> length_classes;  // per row
    std::span<const std::uint32_t> label_numbers;  // per row; empty: one label
    std::uint32_t labels = 0;
};

/// One term before it is written.
struct TermPostings {
    std::uint32_t id = 0;
    std::uint32_t max_tf = 0;
    std::uint8_t fields = 0;
    std::span<const std::uint32_t> rows;  // increasing
    std::span<const std::uint8_t> tfs;    // of each row, at most kMostRunTf
};

/// Turns postings into the bytes of a run (fewer than kListRows) or of a version 3 list.
class ListWriter {
public:
    explicit ListWriter(const ListContext& context)
        : context_(context), labels_(context.label_numbers, context.labels) {}

    /// Replaces `out`.
    void write(const TermPostings& term, Bytes& out);

private:
    static void write_run(const TermPostings& term, Bytes& out);
    /// The directory of windows, the rows and their codes.
    void put_rows(const TermPostings& term, Bytes& out) const;

    ListContext context_;
    LabelCounts labels_;
};

}  // namespace braid::sparse
