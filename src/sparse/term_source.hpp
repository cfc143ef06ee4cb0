#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "braid/result.hpp"
#include "braid/sparse/field_counts.hpp"

namespace braid::sparse {

/// The rows that hold one term.
struct CountedRows {
    std::span<const std::uint32_t> rows;    // increasing
    std::span<const std::uint32_t> counts;  // of each row, one per field

    const std::uint32_t* counts_of(std::size_t i, std::uint32_t fields) const noexcept {
        return counts.data() + i * fields;
    }
};

/// What an index without forward lists is made from: rows, and terms in byte order with the rows
/// that hold them. It is read several times and gives the same each time.
class TermSource {
public:
    virtual ~TermSource() = default;

    virtual std::uint32_t fields() const noexcept = 0;
    virtual Result<> each_row(
        const std::function<Result<>(std::uint32_t label, const FieldCounts& lengths)>& visit)
        const = 0;
    /// The terms held by at least this many rows, and by how many, in byte order.
    virtual Result<> each_frequent(
        std::uint32_t least,
        const std::function<void(std::string_view term, std::uint32_t rows)>& visit) const = 0;
    /// Every term that some row holds, in byte order. What is passed is valid during the call.
    virtual Result<> each_term(
        const std::function<Result<>(std::string_view term, const CountedRows& rows)>& visit)
        const = 0;
};

}  // namespace braid::sparse
