#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/embedder.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid {

/// A part of a chunk that is searched by words: "title", "section_title", "content" or
/// "metadata.<path>". Term frequencies and lengths are multiplied by the weight and added over the
/// fields (BM25F with one common length).
struct TextField {
    std::string name{};
    double weight = 1.0;

    friend bool operator==(const TextField&, const TextField&) = default;
};

enum class Bm25Variant {
    Lucene,  // idf ln(1 + (N - df + 0.5) / (df + 0.5)); tf / (tf + norm)
    Okapi,   // rank-bm25's BM25Okapi, negative idf replaced by epsilon times the mean idf
};

struct Bm25 {
    Bm25Variant variant = Bm25Variant::Lucene;
    double k1 = 1.2;
    double b = 0.75;
    double epsilon = 0.25;  // Okapi only

    friend bool operator==(const Bm25&, const Bm25&) = default;
};

/// How words score in one search. What it leaves out is as the collection has it.
struct Bm25Choice {
    std::optional<double> k1{};
    std::optional<double> b{};
    std::vector<TextField> text_fields{};  // of the collection's, those that get another weight

    bool empty() const noexcept { return !k1 && !b && text_fields.empty(); }
    friend bool operator==(const Bm25Choice&, const Bm25Choice&) = default;
};

inline constexpr std::size_t kMaxDimension = 65'536;

/// Where a collection's vectors come from and how they compare.
struct VectorSpec {
    /// "none" (no vectors), "external" (the user brings them), or an embedder's name.
    std::string embedder = "none";
    std::size_t dimension = 0;  // at most kMaxDimension; 0: taken from the first vector
    Metric metric = Metric::Cosine;
    Precision precision = Precision::F32;
    std::optional<EmbedderFingerprint> fingerprint{};  // of the embedder that made the vectors
    /// Vectors of fixed texts, made when the collection was created. They reveal a runtime that
    /// computes different ones.
    std::vector<std::vector<float>> canaries{};

    bool has_vectors() const noexcept { return embedder != "none"; }
    friend bool operator==(const VectorSpec&, const VectorSpec&) = default;
};

enum class MetadataType { String, Number, Boolean, Date };

/// Declares a metadata field: values of another type are refused, filters are checked against it.
/// Fields that are not declared take any JSON value.
struct MetadataField {
    std::string name{};  // dotted path
    MetadataType type = MetadataType::String;

    friend bool operator==(const MetadataField&, const MetadataField&) = default;
};

struct Schema {
    std::vector<TextField> text_fields{{"title", 1.0}, {"section_title", 1.0}, {"content", 1.0}};
    std::string analyzer = "standard";  // or "simple"
    std::string language = "english";   // stemmer; "none": none; "auto": each chunk's own
    bool stop_words = false;            // true does not index words like "the"
    /// Store where words stand: phrases are then found without reading texts, for about a byte a
    /// word.
    bool positions = false;
    Bm25 bm25{};
    VectorSpec vectors{};
    std::vector<MetadataField> metadata{};
    AccessLevels levels{};

    friend bool operator==(const Schema&, const Schema&) = default;
};

/// InvalidArgument for an invalid field, parameter or name.
Result<> validate(const Schema& schema);
/// The schema with the choice's parameters and weights in place of its own. InvalidArgument for one
/// that a schema could not have, and for a text field that this one has not.
Result<Schema> with_choice(Schema schema, const Bm25Choice& choice);
/// Names are 1 to 100 of [A-Za-z0-9_-], so that they can be file names.
Result<> validate_collection_name(std::string_view name);

/// The unit of retrieval.
struct Chunk {
    std::string chunk_id{};     // unique in its namespace, 1 to 512 bytes, no control characters
    std::string document_id{};  // what the user added, same limits; empty: the chunk_id
    std::optional<std::int64_t> chunk_index{};
    std::string content{};
    std::optional<std::string> title{};
    std::optional<std::string> section_title{};
    Object metadata{};
    std::optional<Timestamp> created_at{};
    /// No read that begins at this time or later sees the chunk: no search, count or statistic.
    /// None: it never expires.
    std::optional<Timestamp> expires_at{};
    std::optional<std::string> sensitivity{};     // one of the schema's levels; none: the default
    std::vector<std::string> visibility_scope{};  // empty: anyone with the clearance sees it
    std::vector<float> vector{};                  // empty: none
    Version version = 0;                          // set by the store

    friend bool operator==(const Chunk&, const Chunk&) = default;
};

/// A change that leaves text and vector alone. `metadata` is merged as RFC 7396 does: null removes
/// a member, objects merge, anything else replaces. Fields left empty stay as they are.
struct MetadataUpdate {
    std::string chunk_id{};
    Object metadata{};
    std::optional<Timestamp> created_at{};
    std::optional<Timestamp> expires_at{};
    std::optional<std::string> sensitivity{};
    std::optional<std::vector<std::string>> visibility_scope{};

    friend bool operator==(const MetadataUpdate&, const MetadataUpdate&) = default;
};

struct WriteOptions {
    /// The write happens only if each chunk it names has this version (0: does not exist yet);
    /// otherwise Conflict, and nothing is written.
    std::optional<Version> if_version{};
    /// The embedder that made the vectors. Conflict, and nothing is written, if the collection's
    /// come from another.
    std::optional<EmbedderFingerprint> vectors_by{};
    /// Who writes. A chunk this principal may not see cannot be changed: to an update it does not
    /// exist, and an upsert of its id is a Conflict that says only that the id is taken. Deletes
    /// use their scope's principal.
    Principal principal{};
    /// Upserts only: the batch holds its documents whole. The same write deletes their other chunks
    /// that the principal may see. Conflict if an id belongs to a chunk of another document.
    bool replace_documents = false;
    /// Upserts only: a chunk that differs from the stored one in nothing but its version is not
    /// written again; one with the same text keeps its stored vector.
    bool skip_unchanged = false;
    /// Apply while texts are embedded and while a filter looks for what to delete; the write
    /// itself is not interrupted.
    CallLimits limits{};
};

struct WriteReport {
    std::uint64_t written = 0;  // chunks inserted, updated or deleted
    std::uint64_t replaced = 0;
    std::uint64_t removed = 0;          // chunks that the replaced documents no longer have
    std::uint64_t unchanged = 0;        // chunks not written again (WriteOptions::skip_unchanged)
    Version version = 0;                // of every chunk the call changed; 0 if it changed none
    std::vector<std::string> warnings;  // texts longer than the embedder reads, and the like
};

/// A collection as `collections` lists it.
struct CollectionInfo {
    std::string name;
    Schema schema;
    std::uint64_t chunks = 0;  // visible to the principal that asks, over all namespaces
    std::uint64_t documents = 0;
    std::vector<std::string> namespaces;  // those with visible chunks, in byte order
    std::string damage;                   // why the collection cannot be read; empty when it can
    /// Of the whole collection; 0 for a principal that may not see all of it.
    std::uint64_t bytes_on_disk = 0;
};

/// The state of approximate dense search: its graphs, and the recall measured.
struct DenseStats {
    /// The mean share of the best k hits that one method found when it aimed for `planned`, with
    /// its 95 % interval. Searches go deep enough for `low` to meet what was asked for.
    struct Point {
        std::string method;  // "code scan" or "graph"
        double planned = 0;
        double found = 0;
        double low = 0;
        double high = 0;
        std::uint64_t k = 10;
    };
    std::uint64_t in_graphs = 0;   // vectors reachable through graphs
    std::uint64_t calibrated = 0;  // vectors when the points were measured; 0: never measured
    std::uint64_t queries = 0;     // used to measure them
    std::uint64_t asked = 0;       // of these, real queries; the others are stored vectors
    std::vector<Point> points;
};

/// What is known about the legs of one namespace without judgements: how well each finds chunks by
/// questions made from their own texts (and taken out of the chunk searched for), and the spread of
/// scores of unrelated questions and chunks.
struct LegProbes {
    struct Kind {
        /// "title" -> the chunk, "sentence" -> the chunk without it, "first" sentence -> the rest,
        /// "neighbor" -> the chunk next to it.
        std::string name;
        std::uint64_t asked = 0;
        double dense = 0;  // mean reciprocal rank among the first ten
        double sparse = 0;

        friend bool operator==(const Kind&, const Kind&) = default;
    };
    struct Spread {
        double mean = 0;
        double deviation = 0;

        friend bool operator==(const Spread&, const Spread&) = default;
    };
    std::uint64_t chunks = 0;  // of the namespace when it was probed
    std::uint64_t among = 0;   // of these, searched by the probes
    std::vector<Kind> kinds;   // those that could be made
    Spread random_dense;       // scores of random pairs
    Spread random_sparse;

    friend bool operator==(const LegProbes&, const LegProbes&) = default;
};

/// What searches of a collection read: immutable files, and newer chunks in memory.
struct IndexState {
    struct Segment {
        std::string file;
        std::uint64_t chunks = 0;   // written to it
        std::uint64_t dead = 0;     // of these: deleted or replaced since
        std::uint64_t vectors = 0;  // of these
        std::uint64_t bytes = 0;
        std::uint64_t graph_bytes = 0;  // of its graph file; 0: there is no graph
    };
    std::vector<Segment> segments;  // oldest first
    std::uint64_t in_memory = 0;    // versions of chunks that are in no segment yet
    /// Work that is pending or under way: "flush", "merge", "graph", "calibration".
    std::vector<std::string> pending;
};

/// How much of a collection's files serves one purpose.
struct StoredPart {
    /// "log" (writes since the last flush), "documents", "columns", "words", "vectors",
    /// "graphs", or "other": headers, directories and checksums.
    std::string name;
    std::uint64_t bytes = 0;

    friend bool operator==(const StoredPart&, const StoredPart&) = default;
};

/// Statistics of what the principal may see in one namespace.
struct CollectionStats {
    std::uint64_t chunks = 0;
    std::uint64_t documents = 0;
    std::uint64_t vectors = 0;
    std::uint64_t terms = 0;          // distinct
    double average_length = 0;        // weighted terms per chunk
    std::uint64_t bytes_on_disk = 0;  // as in CollectionInfo
    /// Only with many vectors, and for a principal that may see all of them.
    std::optional<DenseStats> dense;
    std::vector<StoredPart> parts;    // of bytes_on_disk, largest first; empty where that is 0
    std::optional<IndexState> index;  // over all namespaces; none where `parts` is empty
    /// Of the namespace, for a principal that may see all of it; none until it has been probed.
    std::optional<LegProbes> probes;
    /// Memory of the process that has the database open, mapped files included; 0 where
    /// bytes_on_disk is.
    std::uint64_t resident_bytes = 0;
};

/// How a backend is doing, for health checks and metrics.
struct BackendHealth {
    struct Refusal {
        std::string collection;  // empty: none can be created
        Error cause;             // StorageFull: writes resume once there is space
    };
    std::vector<Refusal> refusing;    // collections that refuse writes now
    std::uint64_t failed_writes = 0;  // storage failures since the backend was opened
    std::uint64_t compactions = 0;    // started by the backend itself
    std::uint64_t failed_compactions = 0;
    std::uint64_t open_collections = 0;  // the others are opened on demand
};

/// What verifying a database found.
struct CheckReport {
    /// Damage, one line each: collection, file, place in it, and what is wrong.
    std::vector<std::string> problems;
    /// Collections that are being filled, or were left half-filled: they cannot be read.
    std::vector<std::string> unfinished;
    /// Harmless findings: writes that a crash cut short, leftover and unknown files.
    std::vector<std::string> notes;
    std::uint64_t collections = 0;  // checked, damaged ones included
    std::uint64_t chunks = 0;       // compared with the log
    std::uint64_t records = 0;      // readable ones, in the logs
    std::uint64_t bytes = 0;        // of manifests and logs
    /// Log records that later ones supersede: until they are compacted, the files still hold the
    /// texts of deleted and replaced chunks.
    std::uint64_t superseded = 0;

    bool clean() const noexcept { return problems.empty() && unfinished.empty(); }
    friend bool operator==(const CheckReport&, const CheckReport&) = default;
};

/// What a repair recovered.
struct RepairReport {
    struct Repaired {
        std::string collection;
        std::uint64_t records = 0;      // readable ones; 0 if only the manifest was damaged
        std::uint64_t chunks = 0;       // rebuilt from them
        std::string kept;               // the file that holds the damaged bytes; may be empty
        std::vector<std::string> lost;  // one line for each damaged place
    };
    std::vector<Repaired> repaired;
    std::vector<std::string> unrepairable;  // collections that cannot be repaired, and why
};

}  // namespace braid
