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

/// The collection that is measured, in a scratch folder of its own.
struct BenchIndex {
    ScratchFolder folder;
    Database database;
    Object facts;  // build_seconds, index_bytes, memory_bytes
};

using MakeChunk = std::function<Result<Chunk>(std::uint64_t index)>;

/// Stores `rows` chunks; row i has the id "i".
Result<BenchIndex> build_bench(const Session& session, const Schema& schema, std::uint64_t rows,
                               const MakeChunk& make);

}  // namespace braid::cli
