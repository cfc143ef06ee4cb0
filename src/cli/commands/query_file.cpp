#include "braid/cli/commands/query_file.hpp"

#include <string>

#include "braid/core/numbers.hpp"
#include "braid/ingest/npy.hpp"

namespace braid::cli {

Result<QueryFile> read_query_file(const Arguments& arguments) {
    const auto path = arguments.text("queries");
    if (!path) {
        return invalid_argument("\"" + std::string(arguments.command->name) +
                                "\" needs --queries FILE");
    }
    QueryFile out;
    BRAID_TRY(out.queries, eval::read_queries(*path));
    if (const auto vectors = arguments.text("query-vectors")) {
        BRAID_TRY(const auto file, ingest::NpyFile::open(*vectors));
        if (file.rows() != out.queries.size()) {
            return invalid_argument(
                file.name() + " has " + core::count_of(file.rows(), "row", "rows") +
                ", the query file " + core::count_of(out.queries.size(), "query", "queries"));
        }
        BRAID_TRY(out.vectors, file.all_rows());
    }
    return out;
}

}  // namespace braid::cli
