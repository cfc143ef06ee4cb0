#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "braid/docs/column.hpp"
#include "braid/docs/column_format.hpp"
#include "braid/docs/merge_order.hpp"
#include "braid/docs/packed_ints.hpp"
#include "braid/docs/string_table.hpp"
#include "braid/result.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/sections.hpp"

namespace braid::docs {

/// One column of several inputs, restricted to the rows that stay: first the values that some such
/// row has are put in order, then they are written, and then the rows with their new codes.
class ColumnMerge {
public:
    using GoOn = std::function<Result<>()>;  // fails if told to stop

    struct Source {
        std::size_t input = 0;
        Column column;
        /// New codes by the input's own; kLeftOut: no remaining row has it.
        std::vector<std::uint32_t> codes;
        /// The column's other values, in byte order.
        std::vector<std::uint32_t> others;
    };

    ColumnMerge(const MergeOrder& order, const GoOn& go_on) : order_(order), go_on_(go_on) {}

    /// Adds the column of an input that has one.
    Result<> add(std::size_t input, const Column& column);
    /// Whether some remaining row has a value.
    bool has_rows() const noexcept { return rows_.count > 0; }
    /// Appends to the current section.
    Result<> write(store::SectionSink& sink);

private:
    Result<> look_at_rows(Source& source);
    Result<> number_values();
    Result<> number_timed_texts();
    Result<> write_rows();
    Result<> write_texts(store::SectionSink& sink);
    Result<> write_others(store::SectionSink& sink);
    /// Calls `visit(stream)` for each value of a type that stays, in order; its code is then
    /// `next_code`.
    template <class Stream, class Visit>
    Result<> each_value(std::uint32_t& next_code, const Visit& visit);
    store::ByteWriter& part(ColumnPart which) { return parts_[static_cast<std::size_t>(which)]; }

    const MergeOrder& order_;
    const GoOn& go_on_;
    std::vector<Source> sources_;
    PackedRange rows_;   // of rows with a value, by their new numbers
    PackedRange kinds_;  // of these
    std::uint64_t code_count_ = 0;
    std::uint32_t first_text_ = 0;  // codes
    std::uint32_t first_other_ = 0;
    StringTableWriter texts_;
    std::uint64_t other_bytes_ = 0;
    std::array<store::ByteWriter, kColumnParts> parts_;  // all except texts and other values
};

}  // namespace braid::docs
