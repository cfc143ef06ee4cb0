#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "braid/dense/code_scan.hpp"
#include "braid/dense/codes.hpp"
#include "braid/dense/format.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

inline constexpr std::string_view kGraphSection = "vectors.graph";
/// Edges of a node, at most; each node's list has room for this many.
inline constexpr std::size_t kGraphDegree = 48;
/// Ends a list that is not full.
inline constexpr std::uint32_t kNoRow = 0xffff'ffffU;

/// Edges between rows, borrowed. Ids beyond the rows are passed over.
struct GraphView {
    std::span<const std::uint32_t> entries;  // rows where a search may start
    std::span<const std::uint32_t> edges;    // `degree` for each row
    std::uint64_t count = 0;
    std::size_t degree = kGraphDegree;

    std::span<const std::uint32_t> neighbours(std::uint32_t row) const noexcept {
        return edges.subspan(std::size_t{row} * degree, degree);
    }
};

/// Memory reused by one search after another.
struct GraphScratch {
    std::vector<std::uint64_t> visited;
    std::vector<std::uint64_t> pool;
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> rows;
    std::vector<float> estimates;
};

/// How far a walk goes.
struct WalkWidth {
    std::size_t beam = 0;  // rows that it keeps and walks from
    /// Rows whose estimate is too far below that of the `near`-th best row are neither walked from
    /// nor let in. 0: no such limit.
    std::size_t near = 0;
    /// How far that is, in standard deviations of the estimates of all entries. Entries are random
    /// rows, so it means the same under any metric and for any collection.
    float margin = 0;
};

/// Walks towards the query by estimates, always from the best rows not walked from yet, until that
/// holds for none of the best `beam` rows, or for none of those near enough. Returns those rows,
/// best first; fewer only if no more can be reached through the graph.
std::span<const std::uint32_t> walk(const GraphView& graph, const CodeView& codes,
                                    const CodeQuery& query, const WalkWidth& width,
                                    GraphScratch& scratch);
/// The estimates of the rows that the last walk returned, best first.
std::span<const float> estimates_of_walk(GraphScratch& scratch);

/// A graph over codes as a section: derived from a vector index, kept beside it or in a file of its
/// own, and never needed. Safe for concurrent use; valid as long as the source.
class CodeGraph {
public:
    CodeGraph() = default;
    /// Corruption if it is not a graph; Conflict if it belongs to other vectors.
    static Result<CodeGraph> open(const store::SectionSource& source, const VectorsMeta& meta);

    Result<GraphView> view() const;
    Result<> intact() const { return section_.intact(); }

private:
    store::Section section_;
    std::uint64_t count_ = 0;
    std::uint32_t entry_count_ = 0;
};

Result<> write_graph(const VectorsMeta& meta, std::span<const std::uint32_t> entries,
                     std::span<const std::uint32_t> edges, store::SectionSink& sink);

}  // namespace braid::dense
