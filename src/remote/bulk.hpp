#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "braid/remote/cluster_core.hpp"
#include "braid/result.hpp"

namespace braid::remote {

/// One write of many.
struct BulkOperation {
    enum class Kind { Create, Replace, Remove };
    std::string chunk_id;
    Version version = 0;  // of what is written
    Kind kind = Kind::Create;
    std::string lines;  // for the cluster
};

/// The line before a document.
std::string bulk_action(const std::string& key, const Dependency& depends);

/// Writes a chunk over what is stored under its id.
BulkOperation index_operation(const std::string& namespace_, const Chunk& chunk,
                              const DocumentForm& form, const StoredChunk& over);
BulkOperation remove_operation(const std::string& namespace_, const std::string& chunk_id,
                               Version version, const Dependency& depends);

struct BulkOutcome {
    enum class Kind { Done, Conflict, Failed };
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
