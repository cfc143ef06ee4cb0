#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "braid/remote/cluster_core.hpp"
#include "braid/result.hpp"

namespace braid::remote {

/// What a write depends on: that the document is still the one that was read, or that there is
/// none.
struct Dependency {
    bool absent = false;
    std::int64_t sequence = 0;
    std::int64_t term = 0;

    static Dependency on(const std::optional<StoredChunk>& stored) {
        if (!stored) return {.absent = true};
        return {.absent = false, .sequence = stored->sequence, .term = stored->term};
    }
};

/// One write of many.
struct BulkOperation {
    std::string chunk_id;
    Version version = 0;  // that is written; 0: the chunk is removed
    std::string lines;    // for the cluster
};

BulkOperation index_operation(const std::string& namespace_, const Chunk& chunk,
                              const DocumentForm& form, const Dependency& depends);
BulkOperation remove_operation(const std::string& namespace_, const std::string& chunk_id,
                               const Dependency& depends);

struct BulkOutcome {
    enum class Kind { Created, Replaced, Removed, Absent, Conflict, Failed };
    Kind kind = Kind::Failed;
    Error error{};  // of Failed
};

/// Writes what can be written, and says of each operation what became of it. Those that a full
/// queue or a missing copy turned away are tried again, with a pause. An operation that was carried
/// out although its answer was lost counts as carried out.
std::vector<BulkOutcome> run_bulk(ClusterCore& core, const RemoteCollection& collection,
                                  const std::string& namespace_,
                                  std::span<const BulkOperation> operations,
                                  const CallLimits& limits);

/// The outcome of one item of an answer to a bulk; none if it should be tried again.
std::optional<BulkOutcome> outcome_of(const Value& item, bool last);

}  // namespace braid::remote
