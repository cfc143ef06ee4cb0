#pragma once

#include <memory>
#include <string>
#include <vector>

#include "braid/backend.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::store {
class Directory;
}

namespace braid::local {

struct LocalOptions {
    bool read_only = false;   // takes no lock, writes nothing
    unsigned relaxed_ms = 0;  // 0: acknowledged means on disk
    LogSink log;
};

/// The embedded backend, as it stands: exact in memory, durable by a log per collection.
struct OpenedBackend {
    std::unique_ptr<Backend> backend;
    std::vector<std::string> notes;  // unfinished writes cut, collections that cannot be read
};

/// Opens every collection below `directory`. Damage to one is reported by `collections` and by
/// every use of it, and does not stop the others. Locked if another process writes here.
Result<OpenedBackend> open_local_backend(std::unique_ptr<store::Directory> directory,
                                         const LocalOptions& options);

/// See Database::repair. Locked if another process writes here.
Result<RepairReport> repair_database(store::Directory& root);

/// Copies the whole database of an embedded backend as it is at one moment; see
/// Database::snapshot. Unsupported for other backends.
Result<CheckReport> copy_database(const Backend& backend, store::Directory& destination,
                                  const CallLimits& limits);

}  // namespace braid::local
