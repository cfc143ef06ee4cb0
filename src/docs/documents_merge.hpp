#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <stop_token>
#include <string>

#include "braid/docs/blocks_writer.hpp"
#include "braid/docs/merge_order.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::docs {

struct MergedDocuments {
    bool expires = false;            // some row does
    std::set<std::uint32_t> labels;  // of all rows
};

/// Writes what a DocumentsBuilder would write for the rows that stay, with their labels and lengths
/// unchanged. Rows are copied as stored; held in memory are some 40 bytes per row and one block of
/// each input. Cancelled if told to stop.
Result<MergedDocuments> merge_documents(std::span<const MergeInput> inputs, const MergeOrder& order,
                                        const DocumentsOptions& options, store::SectionSink& sink,
                                        const std::string& prefix, const std::stop_token& stop);

}  // namespace braid::docs
