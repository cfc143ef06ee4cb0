#include "braid/ingest/database_target.hpp"

#include <utility>

#include "braid/ingest/new_source.hpp"

namespace braid::ingest {

Result<DirectoryReport> ingest_directory(Database& database,
                                         const std::vector<std::filesystem::path>& roots,
                                         const DirectoryOptions& options) {
    DatabaseTarget target(database, options);
    return ingest_directory(static_cast<DirectoryTarget&>(target), roots, options);
}

Result<DirectoryReport> ingest_source(Database& database, NewSource source,
                                      const DirectoryOptions& options) {
    DatabaseTarget target(database, options);
    return ingest_source(static_cast<DirectoryTarget&>(target), std::move(source), options);
}

}  // namespace braid::ingest
