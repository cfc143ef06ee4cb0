#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/answer.hpp"
#include "braid/collection.hpp"
#include "braid/embedder.hpp"
#include "braid/filter.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid {

class Backend;
namespace core {
struct Vocabulary;
}

/// Full: acknowledged means on disk. Relaxed: a failure of the machine (not of the process) may
/// lose up to `relaxed_ms` of acknowledged writes.
enum class Durability { Full, Relaxed };

/// Finds the embedder a collection names. `none` and `external` never reach it.
using EmbedderFactory =
    std::function<Result<std::shared_ptr<const Embedder>>(const VectorSpec& spec)>;

/// An endpoint that speaks OpenAI's chat completions.
struct ChatEndpoint {
    std::string base_url = "https://api.openai.com/v1";
    std::string api_key{};  // never part of an error or a log
    std::string model{};
    std::int64_t timeout_ms = 8'000;  // of one call, retries included
    bool offline = false;             // true forbids outgoing calls
};

/// InvalidArgument for settings that cannot work. Sends nothing yet.
Result<std::shared_ptr<const QueryPreprocessor>> make_chat_preprocessor(
    const ChatEndpoint& endpoint);

/// A cross-encoder: an ONNX model that scores a query and a passage together.
struct RerankerModel {
    std::filesystem::path model{};
    std::filesystem::path tokenizer{};  // empty: tokenizer.json beside the model
    std::size_t token_limit = 512;      // of query and passage together; longer passages are cut
};

/// The stage "rerank", for OpenOptions::stages: the model rescores and ranks the best "candidates"
/// (50) hits, the others follow. If "deadline_ms" is too short or the model cannot be used, the
/// stage is skipped, and the answer says so. The first request that names the stage loads the
/// model. NotFound if a file is missing.
Result<CustomStage> make_rerank_stage(const RerankerModel& model);

/// The vocabulary of the applications that come with braid: their profiles, aliases of request keys
/// and so on (applications.hpp).
std::shared_ptr<const core::Vocabulary> application_vocabulary();

/// A search cluster (OpenSearch with its k-NN plugin) that holds the collections; docs/cluster.md.
struct ClusterEndpoint {
    /// Nodes of one cluster, http or https. If one does not answer, the next is tried.
    std::vector<std::string> urls{};
    std::string key{};              // "user:password" or a token; never part of an error or a log
    std::string ca_file{};          // empty: the system's certificates
    std::string prefix = "braid-";  // of its indexes; other indexes are left alone
    std::size_t shards = 1;         // of new collections
    std::size_t replicas = 1;       // of each shard
    std::int64_t timeout_ms = 60'000;  // of one request, if the call has no deadline
    bool offline = false;              // true forbids outgoing calls
};

struct OpenOptions {
    bool create = true;      // create a missing directory; false: NotFound
    bool read_only = false;  // takes no lock; sees what others have flushed since
    Durability durability = Durability::Full;
    unsigned relaxed_ms = 100;
    /// Collections kept open. Beyond it the least recently used are closed, unless they are being
    /// read, and reopened on demand.
    std::size_t max_open_collections = 128;
    /// MiB that writing may take: chunks that are in no file yet, files being merged, and graphs
    /// being built; docs/ingest.md says what comes on top.
    std::uint64_t write_memory_mb = 256;
    /// Compacts logs in the background once most of their records are superseded.
    bool auto_compact = true;
    /// Searches by the exact engine: everything in memory, exhaustively. Slow; for comparison,
    /// since answers are the same but for approximate dense search.
    bool exact_engine = false;
    std::vector<Profile> profiles{};          // besides the built-in ones; same name replaces
    std::string default_profile = "default";  // for requests that name none
    std::shared_ptr<const core::Vocabulary> vocabulary = application_vocabulary();
    EmbedderFactory embedders{};        // none: the built-in models
    std::vector<CustomStage> stages{};  // in addition to the built-in ones; same name replaces
    /// For `expand_query` and `use_hyde`, such as make_chat_preprocessor(); none: the plain query
    /// is searched, and the answer says so.
    std::shared_ptr<const QueryPreprocessor> preprocessor{};
    LogSink log{};
    /// The clock chunks expire by; none: the system's.
    std::function<Timestamp()> clock;
    /// After this long without a write, a namespace that has changed much is probed in the
    /// background (Database::probe), if its embedder is a built-in one. 0: never.
    unsigned probe_after_ms = 10'000;
};

/// What opening found: damage is reported, never hidden.
struct OpenReport {
    std::vector<std::string> notes;  // "collection 'a': cut 17 bytes of an unfinished write"
};

/// How a collection's embedder counts tokens.
struct TokenCounter {
    std::size_t limit = 0;  // tokens it reads per text; 0: unknown
    std::function<std::size_t(std::string_view)> count;
};

struct ReembedReport {
    std::uint64_t embedded = 0;  // by this call
    std::uint64_t chunks = 0;
    std::vector<std::string> warnings;
};

struct CompactReport {
    std::uint64_t chunks = 0;
    std::uint64_t bytes_before = 0;  // on disk
    std::uint64_t bytes_after = 0;
};

/// A directory of collections: the product's front door. Safe for concurrent use; movable.
///
///     auto db = braid::Database::open("./data");
///     db->add("notes", {{.chunk_id = "a", .content = "Red foxes hunt at dusk."}});
///     auto answer = db->retrieve({.query = "when do foxes hunt?", .collections = {"notes"}});
class Database {
public:
    /// Locked if another process writes to it; NotFound, Corruption, IoError.
    static Result<Database> open(const std::filesystem::path& path,
                                 const OpenOptions& options = {});
    /// Rebuilds each damaged collection from every readable record, including those after the
    /// damage, and keeps the damaged files. Does not touch intact collections. Locked if the
    /// database is open elsewhere; NotFound.
    static Result<RepairReport> repair(const std::filesystem::path& path);
    /// A database in memory, gone with the object.
    static Result<Database> in_memory(const OpenOptions& options = {});
    /// A database whose collections live in a search cluster. InvalidArgument for an endpoint that
    /// cannot work. Sends nothing yet; ignores the options about files.
    static Result<Database> cluster(const ClusterEndpoint& endpoint,
                                    const OpenOptions& options = {});
    /// Retrieval, embedders and stages over your own backend (backend.hpp); ignores the options
    /// about files. InvalidArgument if it is null.
    static Result<Database> over(std::unique_ptr<Backend> backend, const OpenOptions& options = {});

    Database(Database&&) noexcept;
    Database& operator=(Database&&) noexcept;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database();

    const OpenReport& open_report() const;

    Result<> create_collection(const std::string& name, const Schema& schema = {});
    /// A collection that must not be seen before it is complete, such as an import: it takes writes
    /// but no reads until finish_collection. After a crash it is listed as unfinished, and
    /// beginning it again empties it.
    Result<> begin_collection(const std::string& name, const Schema& schema = {});
    Result<> finish_collection(const std::string& name);
    Result<> drop_collection(const std::string& name);
    Result<std::vector<CollectionInfo>> collections(const Principal& principal = {}) const;
    Result<CollectionInfo> describe(const std::string& name, const Principal& principal = {}) const;

    /// Upserts all chunks or none, durable when it returns. Embeds chunks without a vector if the
    /// collection has an embedder. Does not create the collection.
    Result<WriteReport> add(const std::string& collection, std::vector<Chunk> chunks,
                            const std::string& namespace_ = std::string(kDefaultNamespace),
                            const WriteOptions& options = {});
    Result<WriteReport> update(const std::string& collection, std::vector<MetadataUpdate> updates,
                               const std::string& namespace_ = std::string(kDefaultNamespace),
                               const WriteOptions& options = {});
    Result<WriteReport> remove(const ReadScope& scope, const DeleteSelector& selector,
                               const WriteOptions& options = {});

    /// Recomputes the collection's vectors with another embedder, or the current version of its
    /// own, while it stays in use, then switches over atomically. After an interruption it
    /// continues where it stopped. Calls `progress(done, total)` after every batch.
    Result<ReembedReport> reembed(const std::string& collection, const std::string& embedder,
                                  const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                                  const CallLimits& limits = {});

    /// Rewrites the collection's files without deleted and replaced chunks while it stays in use,
    /// then switches over atomically and removes the old files. No answer changes.
    Result<CompactReport> compact(
        const std::string& collection,
        const std::function<void(std::uint64_t, std::uint64_t)>& progress = {},
        const CallLimits& limits = {});

    /// The collection's learned ranking, as text (docs/ranking.md); empty if it has none.
    Result<std::string> ranker(const std::string& collection) const;
    /// Replaces the learned ranking, durably, for the stage "rank"; an empty text removes it.
    /// InvalidArgument if the text is not a ranking.
    Result<> set_ranker(const std::string& collection, const std::string& model);

    Result<Answer> retrieve(const Request& request, const Principal& principal = {},
                            const CallLimits& limits = {}) const;
    /// Concurrent; one failing request does not fail the others.
    std::vector<Result<Answer>> retrieve_batch(std::span<const Request> requests,
                                               const Principal& principal = {},
                                               const CallLimits& limits = {}) const;

    /// Where a request searches. NotFound for an unknown profile, and for a cursor that has expired
    /// or is another principal's.
    Result<SearchTarget> target_of(const Request& request, const Principal& principal = {}) const;

    /// A chunk's rank in each leg and in the whole ranking. NotFound if no collection of the
    /// request has that chunk, or the principal may not see it.
    Result<Explanation> explain(const Request& request, const std::string& chunk_id,
                                const Principal& principal = {},
                                const CallLimits& limits = {}) const;
    /// Why a chunk is not in the answer, and the smallest change to the request that brings it in,
    /// verified by a search. NotFound as above.
    Result<WhyNot> why_not(const Request& request, const std::string& chunk_id,
                           const Principal& principal = {}, const CallLimits& limits = {}) const;

    /// The passages of an answer that fit `budget` tokens, for a prompt; from 50 hits unless the
    /// request says how many. `expand_neighbors` adds adjacent chunks while there is room. The
    /// embedder of the best hit's collection counts the tokens.
    Result<Context> context(const Request& request, std::size_t budget = 2000,
                            const Principal& principal = {}, const CallLimits& limits = {}) const;

    Result<std::vector<std::optional<Chunk>>> get(const ReadScope& scope,
                                                  std::span<const std::string> chunk_ids,
                                                  bool with_vectors = false,
                                                  const CallLimits& limits = {}) const;
    Result<std::vector<Chunk>> neighbors(const ReadScope& scope, const std::string& chunk_id,
                                         std::size_t count, const CallLimits& limits = {}) const;
    Result<std::uint64_t> count(const ReadScope& scope, const CallLimits& limits = {}) const;
    Result<std::vector<FacetCount>> facets(const ReadScope& scope, const std::string& field,
                                           std::size_t limit = 20,
                                           const CallLimits& limits = {}) const;
    Result<CollectionStats> stats(const ReadScope& scope, const CallLimits& limits = {}) const;
    /// Searches both legs of a namespace for a sample of its chunks by questions made from them,
    /// and stores the result (CollectionStats::probes). None if it has too few chunks, no embedder
    /// or no sentences. Costs a few hundred embeddings. The principal must see everything.
    Result<std::optional<LegProbes>> probe(const ReadScope& scope, const CallLimits& limits = {});
    /// Up to `limit` matching chunks after the id `after`, in id order.
    Result<std::vector<Chunk>> scan(const ReadScope& scope, const std::string& after,
                                    std::size_t limit, bool with_vectors = false,
                                    const CallLimits& limits = {}) const;

    /// Verifies files, checksums, the order of records, and that both indexes and their statistics
    /// match the records. Changes nothing. The report names the damage; an error means there is no
    /// report. Needs memory for the chunks of the largest collection.
    Result<CheckReport> check(const CallLimits& limits = {}) const;
    /// Copies the whole database as of one point in time into a missing or empty directory, while
    /// it stays in use. The copy is durable, checked, and opens like any database, but not before
    /// it is complete. AlreadyExists if the directory is not empty, Corruption if a collection is
    /// damaged. The report is about the copy.
    Result<CheckReport> backup(const std::filesystem::path& path,
                               const CallLimits& limits = {}) const;

    /// Which collections refuse writes, and why. Retries those that a full disk stopped.
    BackendHealth health() const;

    /// None for a collection without an embedder.
    Result<std::optional<TokenCounter>> token_counter(const std::string& collection) const;

    /// For tools and tests; see backend.hpp.
    Backend& backend() const;
    /// The vocabulary it was opened with, for whoever parses requests.
    const core::Vocabulary& vocabulary() const;

private:
    struct Impl;
    explicit Database(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace braid
