#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>

#include "braid/core/findings.hpp"
#include "braid/dense/code_graph.hpp"
#include "braid/dense/vector_plan.hpp"
#include "braid/result.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/section_file.hpp"
#include "braid/types.hpp"

namespace braid::segment {

class Segment;

/// The graphs over the vectors of one segment, in a file beside it: derived from the segment, never
/// needed, and made again if missing or damaged. The file has the segment's generation, and says
/// which content it was made from (docs/formats/segment.md). Immutable and safe for concurrent use.
class SegmentGraphs {
public:
    /// NotFound if there is none; Conflict if it was made from another file.
    static Result<std::shared_ptr<const SegmentGraphs>> open(const store::Directory& directory,
                                                             const store::SectionFile& of);

    /// NotFound if part `number` has none; Corruption or Conflict if it does not belong to the
    /// part's vectors.
    Result<dense::CodeGraph> of_part(std::size_t number, const dense::VectorsMeta& meta) const;
    std::uint64_t bytes() const noexcept { return file_->size_bytes(); }
    const store::SectionFile& file() const noexcept { return *file_; }

private:
    explicit SegmentGraphs(std::shared_ptr<const store::SectionFile> file)
        : file_(std::move(file)) {}

    std::shared_ptr<const store::SectionFile> file_;
};

/// What a leg calls its method: "exact scan", "code scan", "graph".
std::string_view method_name(dense::VectorMethod method) noexcept;

/// Whether some part of the segment has at least `least` vectors, with codes, and no usable graph.
bool graphs_due(const Segment& segment, std::uint64_t least);

/// Builds the graphs of all parts with at least `least` vectors and has the segment use them, while
/// others search. Replaces an existing file. Cancelled if told to stop, leaving nothing behind.
/// What it needs beyond `memory_bytes` goes to scratch files in the directory. One thread at a
/// time.
Result<> build_graphs(store::Directory& directory, const Segment& segment, std::uint64_t least,
                      std::uint64_t memory_bytes, const std::stop_token& stop);

/// Reads every byte of the segment's graphs, if it has any. A problem is only a note: searches do
/// without.
Result<> check_graphs(const store::Directory& directory, const Segment& segment,
                      core::Findings& findings, const CallLimits& limits);

}  // namespace braid::segment
