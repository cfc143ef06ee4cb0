#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/filter.hpp"
#include "braid/reader.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid {

/// What a backend promises. The conformance suite holds it to each that is true; answers name
/// those that are false.
struct Capabilities {
    bool exact_lengths = false;      // BM25 uses true lengths, not rounded ones
    bool scoped_statistics = false;  // statistics of what the principal may see
    bool live_df = false;            // deleted chunks leave the statistics at once
    bool exact_dense = false;        // exact dense search on request
    bool whole_ranking = false;      // Reader::rank_of
    bool query_language = false;     // Leg::clause
    bool bm25_choice = false;        // Leg::bm25
    bool snapshots = false;          // a snapshot answers the same for as long as it is held
    bool read_your_writes = false;   // an acknowledged write is in the next search
    bool atomic_batches = false;     // a batch is written whole or not at all
    bool expiry = false;             // Chunk::expires_at; without it such chunks are refused
    bool skips_unchanged = false;    // WriteOptions::skip_unchanged; without it all are written

    friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

/// The collections, and snapshots of them.
class Catalog {
public:
    virtual ~Catalog() = default;

    /// AlreadyExists, or InvalidArgument for the name or the schema.
    virtual Result<> create_collection(const std::string& name, const Schema& schema) = 0;
    virtual Result<> drop_collection(const std::string& name) = 0;
    /// Like create_collection, but every read fails until finish_collection, even after a crash;
    /// `collections` says why. Beginning it again empties it.
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

    /// The named collections as they are now. NotFound names the first that is missing.
    virtual Result<ReaderPtr> snapshot(std::span<const std::string> collections,
                                       const CallLimits& limits) const = 0;

    /// The warning for answers while a rewrite is unfinished; with its progress only for a
    /// principal that sees everything.
    virtual std::optional<std::string> rewriting(const std::string& collection,
                                                 const Principal& principal) const {
        (void)collection, (void)principal;
        return std::nullopt;
    }
};

/// Changes to chunks. Durable when a call returns. If `atomic_batches` is promised, a batch is
/// written whole or not at all.
class Writer {
public:
    virtual ~Writer() = default;

    /// Inserts or replaces.
    virtual Result<WriteReport> upsert(const std::string& collection, const std::string& namespace_,
                                       std::vector<Chunk> chunks, const WriteOptions& options) = 0;
    /// NotFound if one of the chunks does not exist.
    virtual Result<WriteReport> update(const std::string& collection, const std::string& namespace_,
                                       std::vector<MetadataUpdate> updates,
                                       const WriteOptions& options) = 0;
    /// Deletes what the scope's principal may see; unknown ids are not an error. The scope's filter
    /// is not used: the selector has its own.
    virtual Result<WriteReport> remove(const ReadScope& scope, const DeleteSelector& selector,
                                       const WriteOptions& options) = 0;
};

/// Builds a copy of a collection under another schema while it stays in use: for vectors of another
/// embedder, or another analysis of the text. One thread at a time.
class Rewrite {
public:
    struct Batch {
        std::string namespace_;
        std::vector<Chunk> chunks;  // with vectors and versions
    };

    virtual ~Rewrite() = default;

    /// Chunks of one namespace that the copy lacks or holds in an older version; empty if none is
    /// left.
    virtual Result<Batch> pending(std::size_t limit) = 0;
    /// Adds a batch of pending(), its chunks changed to fit the new schema, to the copy. Durable
    /// when it returns.
    virtual Result<> put(Batch batch) = 0;
    /// Replaces the collection by the copy, atomically. False, and nothing happens, if the
    /// collection has changed and chunks are pending again.
    virtual Result<bool> finish() = 0;

    virtual std::uint64_t done() const = 0;
    virtual std::uint64_t total() const = 0;
};

/// Upkeep of the stored data. A backend offers what it can; the rest is Unsupported.
class Maintenance {
public:
    virtual ~Maintenance() = default;

    /// Retries collections that a full disk stopped.
    virtual BackendHealth health() const { return {}; }

    /// Verifies files, checksums, the order of records, and that the indexes match the records, of
    /// every collection, damaged or not. Changes nothing.
    virtual Result<CheckReport> check(const CallLimits& limits) const {
        (void)limits;
        return fail(ErrorCode::Unsupported, "this database cannot be checked");
    }
    /// See Database::backup.
    virtual Result<CheckReport> backup(const std::filesystem::path& path,
                                       const CallLimits& limits) const {
        (void)path, (void)limits;
        return fail(ErrorCode::Unsupported, "this database cannot be copied");
    }
    /// Resumes an unfinished rewrite to this schema, or begins one.
    virtual Result<std::unique_ptr<Rewrite>> rewrite(const std::string& collection,
                                                     const Schema& schema) {
        (void)schema;
        return fail(ErrorCode::Unsupported,
                    "collection \"" + collection + "\" cannot be rewritten in place");
    }
    /// A rewrite under the same schema that drops deleted and replaced chunks from the files. An
    /// interrupted one is discarded, not resumed.
    virtual Result<std::unique_ptr<Rewrite>> compaction(const std::string& collection) {
        return fail(ErrorCode::Unsupported,
                    "collection \"" + collection + "\" cannot be compacted");
    }
    /// Stores a learned ranking (docs/ranking.md) with the collection, replacing any other; an
    /// empty text removes it. InvalidArgument if the text is not a ranking.
    virtual Result<> set_ranker(const std::string& collection, const std::string& model) {
        (void)model;
        return fail(ErrorCode::Unsupported,
                    "collection \"" + collection + "\" cannot keep a learned ranking");
    }
    /// Stores what was measured about a namespace's legs, for Reader::stats.
    virtual Result<> set_probes(const std::string& collection, const std::string& namespace_,
                                const LegProbes& probes) {
        (void)namespace_, (void)probes;
        return fail(ErrorCode::Unsupported, "collection \"" + collection + "\" cannot keep probes");
    }
};

/// Where chunks live and are searched: embedded (src/local), a search cluster, or your own
/// (Database::over). Safe for concurrent use. One conformance suite runs over every implementation;
/// forwarding.hpp helps to wrap one.
class Backend : public Catalog, public Writer, public Maintenance {
public:
    virtual Capabilities capabilities() const = 0;
};

}  // namespace braid
