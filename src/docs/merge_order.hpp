#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "braid/docs/column.hpp"
#include "braid/docs/columns_reader.hpp"
#include "braid/docs/documents_reader.hpp"
#include "braid/result.hpp"

namespace braid::docs {

/// The number of a row that is left out.
inline constexpr std::uint32_t kLeftOut = 0xFFFF'FFFF;

/// Rows that are to be merged with others.
struct MergeInput {
    const DocumentsReader* documents = nullptr;
    const ColumnsReader* columns = nullptr;
    const Bits* staying = nullptr;  // null: all
};

/// The rows of several inputs that stay, in id order. Takes six bytes per row.
class MergeOrder {
public:
    /// InvalidArgument if two remaining rows have the same id. Reads only ids.
    static Result<MergeOrder> create(std::span<const MergeInput> inputs);

    std::uint32_t rows() const noexcept { return static_cast<std::uint32_t>(inputs_.size()); }
    std::size_t inputs() const noexcept { return numbers_.size(); }
    /// The new number of each row of an input.
    std::span<const std::uint32_t> numbers(std::size_t input) const noexcept {
        return numbers_[input];
    }
    /// To be called once, when nothing else will be asked.
    std::vector<std::uint32_t> take_numbers(std::size_t input) noexcept {
        return std::move(numbers_[input]);
    }

    /// Calls `visit(input, row)` for each new row, in order; it returns a Result<>.
    template <class Visit>
    Result<> each(const Visit& visit) const {
        std::vector<std::uint32_t> next(numbers_.size(), 0);
        for (const std::uint16_t input : inputs_) {
            while (numbers_[input][next[input]] == kLeftOut) ++next[input];
            BRAID_CHECK(visit(std::size_t{input}, next[input]++));
        }
        return {};
    }

private:
    std::vector<std::uint16_t> inputs_;                // of each new row
    std::vector<std::vector<std::uint32_t>> numbers_;  // by input and row
};

}  // namespace braid::docs
