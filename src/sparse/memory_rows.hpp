#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "braid/sparse/index_writer.hpp"
#include "braid/sparse/memory_postings.hpp"

namespace braid::sparse {

tl::unexpected<Error> term_too_long(std::string_view term);

/// Rows in memory as the source of an index: some rows of a MemoryPostings, in a new order.
class MemoryRows final : public RowSource {
public:
    struct Row {
        std::uint32_t row = 0;  // in the postings
        std::uint32_t label = 0;
        FieldCounts lengths{};
        /// Of its terms in byte order, see SourceRow; empty: not known. Borrowed.
        std::span<const std::uint32_t> positions;
    };

    /// InvalidArgument if a term is longer than kMaxIndexTermBytes. The postings must outlive it,
    /// and not change.
    static Result<MemoryRows> create(const MemoryPostings& postings, std::vector<Row> rows,
                                     std::uint32_t fields, bool positions = false);

    std::uint32_t fields() const noexcept override { return fields_; }
    std::uint32_t terms() const noexcept override {
        return static_cast<std::uint32_t>(sorted_.size());
    }
    bool has_positions() const noexcept override { return positions_; }
    Result<> each_row(const std::function<Result<>(const SourceRow&)>& visit) const override;
    Result<> each_term(const std::function<Result<>(std::string_view)>& visit) const override;

private:
    struct Entry {
        std::uint32_t place = 0;
        std::uint32_t field = 0;
        std::uint32_t count = 0;
    };
    MemoryRows(std::vector<Row> rows, std::uint32_t fields, bool positions)
        : rows_(std::move(rows)), fields_(fields), positions_(positions) {}
    /// The postings by row: one walk along every list.
    void turn();

    std::vector<Row> rows_;
    std::uint32_t fields_;
    bool positions_;
    std::vector<const MemoryPostings::Entry*> sorted_;  // terms in byte order
    std::vector<Entry> entries_;                        // of all rows, by row, then by place
    std::vector<std::size_t> ends_;                     // of each row's
};

}  // namespace braid::sparse
