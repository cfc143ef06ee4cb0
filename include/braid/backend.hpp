#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/answer.hpp"
#include "braid/collection.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid {

/// What a backend can promise. The conformance suite is strict where one is true; answers name
/// those that are not.
struct Capabilities {
    bool exact_lengths = false;      // BM25 uses true lengths, not rounded ones
    bool scoped_statistics = false;  // statistics of what the principal may see
    bool live_df = false;            // deleted chunks leave the statistics at once
    bool exact_dense = false;        // exact dense search on request
    bool snapshots = false;          // a snapshot answers the same for as long as it is held
    bool read_your_writes = false;   // an acknowledged write is in the next search
    bool atomic_batches = false;     // a batch is written whole or not at all

    friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

/// A point in time of some collections. Holding one keeps what it shows; let go of it soon.
class Snapshot {
public:
    virtual ~Snapshot() = default;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// What a read may touch.
struct ReadScope {
    std::string collection{kDefaultCollection};
    std::string namespace_{kDefaultNamespace};
    Principal principal;
    std::optional<Filter> filter;
};

enum class LegKind { Dense, Sparse };
std::string_view name_of(LegKind kind) noexcept;  // "dense", "sparse"

/// What BM25 knows of the chunks a principal may see, in one collection or in several.
struct TextStatistics {
    std::uint64_t chunks = 0;
    double total_length = 0;
    /// Chunks that hold each term: those of the query, with Bm25Variant::Okapi every one.
    std::map<std::string, std::uint64_t, std::less<>> frequencies;

    void add(const TextStatistics& other) {
        chunks += other.chunks;
        total_length += other.total_length;
        for (const auto& [term, count] : other.frequencies) frequencies[term] += count;
    }
};

/// One search of one collection: by meaning or by words.
struct Leg {
    LegKind kind = LegKind::Sparse;
    ReadScope scope;
    std::vector<std::string> texts;  // Sparse: query variants; a chunk keeps its best score
    std::vector<float> vector;       // Dense
    /// Sparse: what to weigh words by; none: the scope's own statistics.
    std::shared_ptr<const TextStatistics> statistics;
    std::size_t depth = 50;
    bool query_syntax = false;
    bool exact = false;
};

struct LegHit {
    std::string chunk_id;
    double score = 0;

    friend bool operator==(const LegHit&, const LegHit&) = default;
};

/// Ranked by score, then smaller id; at most `depth` hits.
struct LegResult {
    std::vector<LegHit> hits;
    std::uint64_t matched = 0;  // chunks that match, whatever the depth
    bool exact = true;
    std::string method;
    double time_ms = 0;
    std::vector<std::string> warnings;
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
    /// either all of the old is there or all of the new.
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
        std::string collection;
        Error cause;  // StorageFull: writes are taken again once there is space
    };
    std::vector<Refusal> refusing;    // collections that take no writes at present
    std::uint64_t failed_writes = 0;  // because of the storage, since the backend was opened
    std::uint64_t compactions = 0;    // that the backend did by itself
    std::uint64_t failed_compactions = 0;
    std::uint64_t open_collections = 0;  // the others are opened when they are needed
};

/// A copy of a collection under another schema, made beside it while it stays in use: for vectors
/// of another embedder, or another analysis of the text. One thread at a time.
class Rewrite {
public:
    struct Batch {
        std::string namespace_;
        std::vector<Chunk> chunks;  // with vectors and versions
    };

    virtual ~Rewrite() = default;

    /// Chunks that the copy lacks or holds in an older version, all of one namespace; none left: an
    /// empty batch.
    virtual Result<Batch> pending(std::size_t limit) = 0;
    /// Puts a batch of pending(), its chunks changed to fit the new schema, into the copy. Durable
    /// when it returns.
    virtual Result<> put(Batch batch) = 0;
    /// Puts the copy in the collection's place, at once and for good. False, and nothing happens,
    /// if the collection has changed and chunks are pending again.
    virtual Result<bool> finish() = 0;

    virtual std::uint64_t done() const = 0;
    virtual std::uint64_t total() const = 0;
};

/// Where chunks live and are searched: embedded (src/local) or a search cluster (src/remote). Safe
/// for concurrent use. One conformance suite runs over every implementation.
///
/// Reads name a snapshot; a collection that the snapshot does not hold is NotFound. A chunk the
/// principal may not see is answered like one that does not exist, and changes nothing. Reads that
/// take limits look at them now and then, and fail with DeadlineExceeded or Cancelled.
class Backend {
public:
    virtual ~Backend() = default;

    virtual Capabilities capabilities() const = 0;

    /// AlreadyExists, or InvalidArgument for the name or the schema.
    virtual Result<> create_collection(const std::string& name, const Schema& schema) = 0;
    virtual Result<> drop_collection(const std::string& name) = 0;
    /// Like create_collection, for one that is to be filled before anybody may read it: until
    /// finish_collection it takes writes, and every read of it fails. It stays so after a crash,
    /// `collections` says why, and beginning it again then empties it.
    virtual Result<> begin_collection(const std::string& name, const Schema& schema) {
        (void)schema;
        return fail(ErrorCode::Unsupported, "collection \"" + name + "\" cannot be filled unseen");
    }
    virtual Result<> finish_collection(const std::string& name) {
        return fail(ErrorCode::Unsupported, "collection \"" + name + "\" cannot be filled unseen");
    }
    /// Every collection, damaged ones with the reason; counts are the principal's.
    virtual Result<std::vector<CollectionInfo>> collections(const Principal& principal) const = 0;
    virtual Result<CollectionInfo> describe(const std::string& name,
                                            const Principal& principal) const = 0;

    /// Inserts or replaces, all or none. Durable when it returns.
    virtual Result<WriteReport> upsert(const std::string& collection, const std::string& namespace_,
                                       std::vector<Chunk> chunks,
                                       const WriteOptions& options = {}) = 0;
    /// NotFound if one of the chunks does not exist.
    virtual Result<WriteReport> update(const std::string& collection, const std::string& namespace_,
                                       std::vector<MetadataUpdate> updates,
                                       const WriteOptions& options = {}) = 0;
    /// Deletes what the scope's principal may see; unknown ids are not an error. The scope's filter
    /// is not used: the selector has its own.
    virtual Result<WriteReport> remove(const ReadScope& scope, const DeleteSelector& selector,
                                       const WriteOptions& options = {}) = 0;

    /// Pins the named collections as they are now. NotFound names the first that is missing.
    virtual Result<SnapshotPtr> snapshot(std::span<const std::string> collections) const = 0;

    /// The schema a collection has in the snapshot. Cheap, unlike describe; and for nobody's eyes:
    /// its dimension may be that of vectors which a principal does not see.
    virtual Result<Schema> schema(const SnapshotPtr& snapshot,
                                  const std::string& collection) const = 0;

    /// Runs all legs, in parallel; one result per leg, in order, each failing on its own.
    /// This implementation calls search_leg on threads of its own; others may send one request.
    virtual std::vector<Result<LegResult>> search(const SnapshotPtr& snapshot,
                                                  std::span<const Leg> legs,
                                                  const CallLimits& limits) const;
    virtual Result<LegResult> search_leg(const SnapshotPtr& snapshot, const Leg& leg,
                                         const CallLimits& limits) const = 0;

    /// What the scope of a sparse leg adds to statistics that several collections share.
    virtual Result<TextStatistics> text_statistics(const SnapshotPtr& snapshot, const Leg& leg,
                                                   const CallLimits& limits) const {
        (void)snapshot, (void)leg, (void)limits;
        return fail(ErrorCode::Unsupported, "this database does not share statistics");
    }

    /// Exact scores of named chunks for the leg's query; none for a chunk that cannot be seen or
    /// has no vector. A chunk without any of the words scores 0.
    virtual Result<std::vector<std::optional<double>>> score(
        const SnapshotPtr& snapshot, const Leg& leg, std::span<const std::string> chunk_ids,
        const CallLimits& limits = {}) const = 0;
    /// Ranks (from 1) in the leg's whole list, however deep; none if not in it.
    virtual Result<std::vector<std::optional<std::uint64_t>>> rank_of(
        const SnapshotPtr& snapshot, const Leg& leg, std::span<const std::string> chunk_ids,
        const CallLimits& limits = {}) const = 0;

    /// One entry per id, in order; none where there is no such chunk. Vectors only if asked for.
    /// Here and in neighbors() and scan(), each chunk counts against `limits.bytes` before it is
    /// copied (InvalidArgument, Unavailable).
    virtual Result<std::vector<std::optional<Chunk>>> fetch(
        const SnapshotPtr& snapshot, const ReadScope& scope, std::span<const std::string> chunk_ids,
        bool with_vectors, const CallLimits& limits = {}) const = 0;
    /// Chunks `index - before` ... `index + after` of a document that exist, by index.
    virtual Result<std::vector<Chunk>> neighbors(const SnapshotPtr& snapshot,
                                                 const ReadScope& scope,
                                                 const std::string& document_id, std::int64_t index,
                                                 std::size_t before, std::size_t after,
                                                 const CallLimits& limits = {}) const = 0;
    virtual Result<std::uint64_t> count(const SnapshotPtr& snapshot, const ReadScope& scope,
                                        const CallLimits& limits = {}) const = 0;
    /// The field's most frequent values, then by value; lists count each element once.
    virtual Result<std::vector<FacetCount>> facets(const SnapshotPtr& snapshot,
                                                   const ReadScope& scope, const std::string& field,
                                                   std::size_t limit,
                                                   const CallLimits& limits = {}) const = 0;
    virtual Result<CollectionStats> stats(const SnapshotPtr& snapshot, const ReadScope& scope,
                                          const CallLimits& limits = {}) const = 0;
    /// For each word of the text that no visible chunk of the namespace holds, up to `limit` words
    /// near it that some do, nearest first, then the most frequent; the scope's filter is not used.
    virtual Result<std::vector<Suggestion>> suggest(const SnapshotPtr& snapshot,
                                                    const ReadScope& scope, std::string_view text,
                                                    std::size_t limit,
                                                    const CallLimits& limits = {}) const {
        (void)snapshot, (void)scope, (void)text, (void)limit, (void)limits;
        return std::vector<Suggestion>();
    }
    /// Goes on with a rewrite to this schema that was left unfinished, or begins one.
    virtual Result<std::unique_ptr<Rewrite>> rewrite(const std::string& collection,
                                                     const Schema& schema) {
        (void)schema;
        return fail(ErrorCode::Unsupported,
                    "collection \"" + collection + "\" cannot be rewritten in place");
    }
    /// A rewrite under the same schema, to leave out of the files what was deleted or replaced.
    /// What an interruption leaves behind is cleared away later, not gone on with.
    virtual Result<std::unique_ptr<Rewrite>> compaction(const std::string& collection) {
        return fail(ErrorCode::Unsupported,
                    "collection \"" + collection + "\" cannot be compacted");
    }
    /// What an answer to the principal should say while a rewrite is unfinished: how far it is only
    /// to one that sees everything.
    virtual std::optional<std::string> rewriting(const std::string& collection,
                                                 const Principal& principal) const {
        (void)collection, (void)principal;
        return std::nullopt;
    }

    /// Every matching chunk, in id order, after `after`; for export and re-embedding.
    virtual Result<std::vector<Chunk>> scan(const SnapshotPtr& snapshot, const ReadScope& scope,
                                            const std::string& after, std::size_t limit,
                                            bool with_vectors,
                                            const CallLimits& limits = {}) const = 0;

    /// A collection that a full disk keeps from writing is tried again.
    virtual BackendHealth health() const { return {}; }

    /// Verifies all that is kept, as of now, and changes nothing: files, checksums and order of
    /// records, and that the indexes hold what the records say. One damaged collection does not
    /// keep the others from being checked.
    virtual Result<CheckReport> check(const CallLimits& limits = {}) const {
        (void)limits;
        return fail(ErrorCode::Unsupported, "this database cannot be checked");
    }
};

}  // namespace braid
