#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "braid/dense/code_graph.hpp"
#include "braid/dense/vectors_builder.hpp"
#include "braid/dense/vectors_reader.hpp"
#include "braid/store/directory.hpp"

namespace braid::dense {

struct GraphOptions {
    std::size_t beam = 128;  // rows considered for a row's edges
    double slack = 1.025;    // how much nearer another neighbour must be for an edge to be dropped
    std::uint64_t seed = 1;  // of the order in which rows are inserted
    /// Rows and edges beyond this many bytes go to scratch files in `scratch`, if given: some 600
    /// bytes a row at 256 dimensions and more. The edges do not depend on it.
    std::uint64_t memory_bytes = std::uint64_t{1} << 30;
    store::Directory* scratch = nullptr;
};

/// Writes a graph over the codes of an index that has codes, for VectorsReader::use. Rows are
/// inserted in batches, each against the graph before it, so the bytes do not depend on the number
/// of threads. Cancelled if told to stop; InvalidArgument if there are no codes, or 2^31 rows or
/// more.
Result<> build_graph(const VectorsReader& reader, store::SectionSink& sink,
                     const GraphOptions& options = {}, const BuildControl& control = {});

}  // namespace braid::dense
