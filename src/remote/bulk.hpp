#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "braid/remote/cluster_core.hpp"
#include "braid/result.hpp"

namespace braid::remote {

/// One write among many.
struct BulkOperation {
    enum class Kind { Create, Replace, Remove };
    std::string chunk_id;
    Version version = 0;  // the version being written
    Kind kind = Kind::Create;
    std::string lines;  // as sent to the cluster
};

/// The line that precedes a document.
std::string bulk_action(const std::string& key, const Dependency& depends);

/// Writes a chunk, replacing what is stored under its id.
BulkOperation index_operation(const std::string& namespace_, const Chunk& chunk,
                              const DocumentForm& form, const StoredChunk& over);
BulkOperation remove_operation(const std::string& namespace_, const std::string& chunk_id,
                               Version version, const Dependency& depends);

struct BulkOutcome {
    enum class Kind { Done, Conflict, Failed };
    Kind kind = Kind::Failed;
    Error error{};  // of Failed
};

/// Writes what can be written, and says what became of each operation. Those turned away by a full
/// queue or for want of a copy are tried again after a pause. An operation that was carried out
/// although its answer was lost counts as carried out.
std::vector<BulkOutcome> run_bulk(ClusterCore& core, const RemoteCollection& collection,
                                  const std::string& namespace_,
                                  std::span<const BulkOperation> operations,
                                  const CallLimits& limits);

/// The outcome of one item of a bulk answer; none if it should be tried again.
std::optional<BulkOutcome> outcome_of(const Value& item, bool last);

}  // namespace braid::remote
