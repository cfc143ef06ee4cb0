#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "braid/cli/commands/bench/rounds.hpp"
#include "braid/cli/session.hpp"
#include "braid/collection.hpp"
#include "braid/database.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::cli {

inline const std::string kBenchCollection = "bench";

/// The lines of a file; blank ones count as rows. InvalidArgument if there are none.
Result<std::vector<std::string>> read_bench_lines(const std::string& path);
/// The rows of a .npy file. InvalidArgument if there are none.
Result<std::vector<std::vector<float>>> read_bench_rows(const std::string& path);

/// The collection to be measured, in a folder of its own.
struct BenchIndex {
    ScratchFolder folder;
    Database database;
    Object facts;         // build_seconds, build_cpu_seconds, the same of learn, index_bytes,
                          // resident_before; one that was opened has the last two
    bool opened = false;  // as an earlier run left it, to be read only
};

using MakeChunk = std::function<Result<Chunk>(std::uint64_t index)>;

/// Stores `rows` chunks, row i with the id "i", or opens what --index names if it is there.
Result<BenchIndex> build_bench(const Session& session, const Schema& schema, std::uint64_t rows,
                               const MakeChunk& make);

/// Does `work`, through which the index learns from queries, and notes that it is complete. Does
/// nothing if the index was opened.
Result<> finish_bench(BenchIndex& built, const std::function<Result<>()>& work = nullptr);

}  // namespace braid::cli
