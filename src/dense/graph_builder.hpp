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
    std::size_t beam = 128;  // rows looked at for a row's edges
    double slack = 1.025;    // how much nearer another neighbour must be to make an edge needless
    std::uint64_t seed = 1;  // of the order in which rows are put in
    /// Rows and edges beyond so many bytes are kept in scratch files of `scratch`, if that is
    /// given: some 600 bytes a row of 256 dimensions and more. What the edges are does not depend
    /// on it.
    std::uint64_t memory_bytes = std::uint64_t{1} << 30;
    store::Directory* scratch = nullptr;
};

/// Writes a graph over the codes of an index that has some, for VectorsReader::use. Rows are put in
/// by batches, each against the graph before it, so that the bytes do not depend on the number of
/// threads. Cancelled if told to stop; InvalidArgument without codes, or with 2^31 rows or more.
Result<> build_graph(const VectorsReader& reader, store::SectionSink& sink,
                     const GraphOptions& options = {}, const BuildControl& control = {});

}  // namespace braid::dense
