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
/// needed, and made again where it is missing or damaged. It has the segment's generation, and says
/// of which content it was made (docs/formats/segment.md). Immutable and safe for concurrent use.
class SegmentGraphs {
public:
    /// NotFound if there is none; Conflict if it was made of another file.
    static Result<std::shared_ptr<const SegmentGraphs>> open(const store::Directory& directory,
                                                             const store::SectionFile& of);

    /// NotFound if part `number` has none; Corruption or Conflict if it is not one of its vectors.
    Result<dense::CodeGraph> of_part(std::size_t number, const dense::VectorsMeta& meta) const;
    std::uint64_t bytes() const noexcept { return file_->size_bytes(); }
    const store::SectionFile& file() const noexcept { return *file_; }

private:
    explicit SegmentGraphs(std::shared_ptr<const store::SectionFile> file)
        : file_(std::move(file)) {}

    std::shared_ptr<const store::SectionFile> file_;
};

/// What a leg calls a method: "exact scan", "code scan", "graph".
std::string_view method_name(dense::VectorMethod method) noexcept;

/// Whether a part of the segment has `least` vectors or more, with codes, and no graph that can be
/// used.
bool graphs_due(const Segment& segment, std::uint64_t least);

/// Builds the graphs of all parts with `least` vectors or more and has the segment use them, while
/// others search. Replaces a file that is there. Cancelled if told to stop, and then nothing is
/// left. What it needs beyond `memory_bytes` is in scratch files of the directory. One thread at a
/// time.
Result<> build_graphs(store::Directory& directory, const Segment& segment, std::uint64_t least,
                      std::uint64_t memory_bytes, const std::stop_token& stop);

/// Reads every byte of the segment's graphs, if it has some. What is wrong is a note: searches do
/// without.
Result<> check_graphs(const store::Directory& directory, const Segment& segment,
                      core::Findings& findings, const CallLimits& limits);

}  // namespace braid::segment
