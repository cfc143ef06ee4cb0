#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid {

/// What a read may touch.
struct ReadScope {
    std::string collection{kDefaultCollection};
    std::string namespace_{kDefaultNamespace};
    Principal principal;
    std::optional<Filter> filter;
};

struct WriteOptions {
    /// The write happens only if each chunk it names has this version (0: does not exist yet);
    /// otherwise Conflict, and nothing is written.
    std::optional<Version> if_version;
    /// Who made the chunks' vectors. Conflict, and nothing is written, if the collection's are by
    /// another.
    std::optional<EmbedderFingerprint> vectors_by;
    /// On whose behalf. What it may not see it cannot change: to an update such a chunk does not
    /// exist, an upsert of its id is a Conflict that only says that the id is taken. A delete goes
    /// by its scope's.
    Principal principal;
    /// Upserts only: the batch is all there is of its documents. Chunks of these documents that it
    /// does not hold, and the principal may see, are deleted by the same write: after a crash
    /// either all of the old is there or all of the new. Conflict if it would take away others'.
    bool replace_documents = false;
    /// While missing vectors are made, and while a filter looks for what to delete; the write
    /// itself is not interrupted.
    CallLimits limits;
};

struct WriteReport {
    std::uint64_t written = 0;  // chunks inserted, updated or deleted
    std::uint64_t replaced = 0;
    std::uint64_t removed = 0;          // chunks that replaced documents no longer have
    Version version = 0;                // of every chunk the call changed; 0 if it changed none
    std::vector<std::string> warnings;  // texts longer than the embedder reads, and the like
};

/// What to delete. Exactly one of the three is given.
struct DeleteSelector {
    std::vector<std::string> chunk_ids;
    std::vector<std::string> document_ids;
    std::optional<Filter> filter;
};

struct FacetCount {
    Value value;
    std::uint64_t count = 0;

    friend bool operator==(const FacetCount&, const FacetCount&) = default;
};

/// Of what the principal may see in one namespace.
struct CollectionStats {
    std::uint64_t chunks = 0;
    std::uint64_t documents = 0;
    std::uint64_t vectors = 0;
    std::uint64_t terms = 0;    // distinct
    double average_length = 0;  // weighted terms per chunk
    /// Of the whole collection; 0 for a principal that may not see all of it.
    std::uint64_t bytes_on_disk = 0;
};

/// How a backend is doing, for health checks and metrics.
struct BackendHealth {
    struct Refusal {
        std::string collection;  // empty: none can be created
        Error cause;             // StorageFull: writes are taken again once there is space
    };
    std::vector<Refusal> refusing;    // collections that take no writes at present
    std::uint64_t failed_writes = 0;  // because of the storage, since the backend was opened
    std::uint64_t compactions = 0;    // that the backend did by itself
    std::uint64_t failed_compactions = 0;
    std::uint64_t open_collections = 0;  // the others are opened when they are needed
};

}  // namespace braid
