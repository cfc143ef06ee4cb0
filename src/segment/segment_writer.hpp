#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/dense/vectors_builder.hpp"
#include "braid/exact/partition.hpp"
#include "braid/result.hpp"
#include "braid/segment/segment.hpp"
#include "braid/store/sections.hpp"

namespace braid::segment {

/// How segments of a collection are written.
struct WriteSettings {
    const Schema& schema;
    std::stop_token stop = {};
    /// For sorting words, and for columns of the most frequent ones.
    std::uint64_t memory_bytes = std::uint64_t{64} << 20;
};

/// The rows of a namespace that go into a segment, in chunk-id order.
struct PartitionRows {
    const exact::Partition* partition = nullptr;
    std::vector<exact::Row> rows;
    /// The transform to code vectors with; null: learn one from these, if there are enough.
    std::shared_ptr<const dense::Transform> transform = nullptr;
};

/// The rows of a partition visible at `at`, in chunk-id order.
PartitionRows rows_at(const exact::Partition& partition, Sequence at);

/// Writes a segment of rows from memory, leaving out namespaces without rows. `label_number`
/// numbers access labels the same way in all segments of a collection.
Result<SegmentMeta> write_segment(const std::map<std::string, PartitionRows>& namespaces,
                                  const WriteSettings& settings,
                                  const std::function<std::uint32_t(exact::Label)>& label_number,
                                  store::SectionSink& sink);

/// The new number of each row of a merged space; sparse::kDroppedRow for dropped ones.
using RowNumbers = std::map<const Segment::Space*, std::vector<std::uint32_t>>;

struct Merged {
    SegmentMeta meta;
    RowNumbers numbers;
};
/// Writes one segment of those rows of several that Segment::Space::kept names, in these
/// namespaces. Cancelled if told to stop.
Result<Merged> merge_segments(std::span<const std::shared_ptr<Segment>> segments,
                              const std::set<std::string>& names, Sequence at, Timestamp now,
                              const WriteSettings& settings, store::SectionSink& sink);

}  // namespace braid::segment
