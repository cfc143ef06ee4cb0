#pragma once

#include <span>
#include <stop_token>
#include <string_view>

#include "braid/docs/merge_order.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::docs {

/// Writes what a ColumnsBuilder would write for the rows that stay, column by column, without
/// reading a chunk. Holds four bytes for each distinct value of one column, and the column's codes
/// and numbers while they are written, but never its texts. Cancelled if told to stop.
Result<> merge_columns(std::span<const MergeInput> inputs, const MergeOrder& order,
                       store::SectionSink& sink, std::string_view prefix,
                       const std::stop_token& stop);

}  // namespace braid::docs
