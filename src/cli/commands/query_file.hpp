#pragma once

#include <vector>

#include "braid/cli/args/arguments.hpp"
#include "braid/eval/queries.hpp"
#include "braid/result.hpp"

namespace braid::cli {

inline constexpr FlagSpec kQueriesFlag{.name = "queries",
                                       .kind = FlagKind::Text,
                                       .value = "FILE",
                                       .help = "lines of {\"_id\", \"text\"}, or id<TAB>text"};
inline constexpr FlagSpec kQueryVectorsFlag{.name = "query-vectors",
                                            .kind = FlagKind::Text,
                                            .value = "FILE.npy",
                                            .help = "a row for each query, in their order"};

/// Queries, with a vector for each or none at all.
struct QueryFile {
    std::vector<eval::Query> queries;
    std::vector<std::vector<float>> vectors;
};

/// What --queries, which must be given, and --query-vectors name.
Result<QueryFile> read_query_file(const Arguments& arguments);

}  // namespace braid::cli
