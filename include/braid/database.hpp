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

/// Full: acknowledged means on disk. Relaxed: up to `relaxed_ms` of acknowledged writes may be lost
/// when the machine (not the process) fails.
enum class Durability { Full, Relaxed };

/// Finds the embedder a collection names. `none` and `external` never reach it.
using EmbedderFactory =
    std::function<Result<std::shared_ptr<const Embedder>>(const VectorSpec& spec)>;

/// An endpoint that answers like OpenAI's chat completions.
struct ChatEndpoint {
    std::string base_url = "https://api.openai.com/v1";
    std::string api_key;  // never part of an error or a log
    std::string model;
    std::int64_t timeout_ms = 8'000;  // of one call, repetitions included
    bool offline = false;             // true forbids every outgoing call
};

/// InvalidArgument for settings that cannot work. Sends nothing yet.
Result<std::shared_ptr<const QueryPreprocessor>> make_chat_preprocessor(
    const ChatEndpoint& endpoint);

/// A cross-encoder: an ONNX file that reads a query and a passage together and gives one number.
struct RerankerModel {
    std::filesystem::path model;
    std::filesystem::path tokenizer;  // empty: tokenizer.json beside the model
    std::size_t token_limit = 512;    // of query and passage together; longer passages are cut
};

/// The stage "rerank", to be put into OpenOptions: the best "candidates" (50) hits are scored anew
/// by the model and ranked by that, the others after them. If "deadline_ms" is given and too short,
/// or the model cannot be used, the stage is skipped, and the answer says so. The model is loaded
/// by the first request that names the stage. NotFound if a file is missing.
Result<CustomStage> make_rerank_stage(const RerankerModel& model);

/// What the applications that come with braid call things: their profiles, other names of request
/// keys, and so on (applications.hpp).
std::shared_ptr<const core::Vocabulary> application_vocabulary();

struct OpenOptions {
    bool create = true;      // make the directory if it is missing; otherwise NotFound
    bool read_only = false;  // takes no lock, sees what was on disk when opened
    Durability durability = Durability::Full;
    unsigned relaxed_ms = 100;
    /// Collections kept open, two files each. Beyond it those that were not used for longest are
    /// closed, unless somebody reads them, and opened again when they are needed.
    std::size_t max_open_collections = 128;
    /// Logs of which most is void are compacted by themselves, in the background.
    bool auto_compact = true;
    std::vector<Profile> profiles;            // besides the built-in ones; same name replaces
    std::string default_profile = "default";  // of requests that name none
    std::shared_ptr<const core::Vocabulary> vocabulary = application_vocabulary();
    EmbedderFactory embedders;        // none: the built-in models
    std::vector<CustomStage> stages;  // besides the built-in ones; same name replaces
    /// Serves `expand_query` and `use_hyde`; none: the plain query is searched, and the answer says
    /// so. make_chat_preprocessor makes one over a chat endpoint.
    std::shared_ptr<const QueryPreprocessor> preprocessor;
    LogSink log;
};

/// What opening found: damage is reported, never hidden.
struct OpenReport {
    std::vector<std::string> notes;  // "collection 'a': cut 17 bytes of an unfinished write"
};

/// How a collection's embedder counts.
struct TokenCounter {
    std::size_t limit = 0;  // tokens it reads of one text; 0: unknown
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
    /// Rebuilds each damaged collection of a database that nobody has open from every readable
    /// record, also those behind the damage, and keeps the damaged log beside it. Sound collections
    /// are not touched. Locked, NotFound.
    static Result<RepairReport> repair(const std::filesystem::path& path);
    /// A database that lives and dies with the object.
    static Result<Database> in_memory(const OpenOptions& options = {});
    /// Retrieval, embedders and stages over a backend of one's own; see backend.hpp. Of the options
    /// those about files say nothing to it. InvalidArgument if there is no backend.
    static Result<Database> over(std::unique_ptr<Backend> backend, const OpenOptions& options = {});

    Database(Database&&) noexcept;
    Database& operator=(Database&&) noexcept;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database();

    const OpenReport& open_report() const;

    Result<> create_collection(const std::string& name, const Schema& schema = {});
    /// For a collection that nobody is to see before it is complete, such as an import: it takes
    /// writes, but no reads, until finish_collection. What a crash leaves of it is listed as
    /// unfinished, and beginning it again empties it.
    Result<> begin_collection(const std::string& name, const Schema& schema = {});
    Result<> finish_collection(const std::string& name);
    Result<> drop_collection(const std::string& name);
    Result<std::vector<CollectionInfo>> collections(const Principal& principal = {}) const;
    Result<CollectionInfo> describe(const std::string& name, const Principal& principal = {}) const;

    /// Upserts, all or none, durable when it returns. Chunks without a vector are embedded if the
    /// collection has an embedder. Creates no collection.
    Result<WriteReport> add(const std::string& collection, std::vector<Chunk> chunks,
                            const std::string& namespace_ = std::string(kDefaultNamespace),
                            const WriteOptions& options = {});
    Result<WriteReport> update(const std::string& collection, std::vector<MetadataUpdate> updates,
                               const std::string& namespace_ = std::string(kDefaultNamespace),
                               const WriteOptions& options = {});
    Result<WriteReport> remove(const ReadScope& scope, const DeleteSelector& selector,
                               const WriteOptions& options = {});

    /// Makes the collection's vectors anew with another embedder, or with the present state of its
    /// own, while it stays in use; then switches over at once. What was done before an interruption
    /// is not done again. `progress(done, total)` is called after every batch.
    Result<ReembedReport> reembed(const std::string& collection, const std::string& embedder,
                                  const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                                  const CallLimits& limits = {});

    /// Rewrites the collection's files without what was deleted or replaced, while it stays in use;
    /// then switches over at once, and removes the old files. No answer changes.
    Result<CompactReport> compact(
        const std::string& collection,
        const std::function<void(std::uint64_t, std::uint64_t)>& progress = {},
        const CallLimits& limits = {});

    Result<Answer> retrieve(const Request& request, const Principal& principal = {},
                            const CallLimits& limits = {}) const;
    /// Concurrent; one failing request does not fail the others.
    std::vector<Result<Answer>> retrieve_batch(std::span<const Request> requests,
                                               const Principal& principal = {},
                                               const CallLimits& limits = {}) const;

    /// Where a request searches. NotFound for an unknown profile, and for a cursor that has expired
    /// or is another principal's.
    Result<SearchTarget> target_of(const Request& request, const Principal& principal = {}) const;

    /// Where a chunk stands in each leg and in the whole ranking. NotFound if no collection of the
    /// request has such a chunk that the principal may see.
    Result<Explanation> explain(const Request& request, const std::string& chunk_id,
                                const Principal& principal = {},
                                const CallLimits& limits = {}) const;
    /// Why the answer does not hold a chunk, and the smallest change to the request that was found
    /// to bring it in. NotFound as above.
    Result<WhyNot> why_not(const Request& request, const std::string& chunk_id,
                           const Principal& principal = {}, const CallLimits& limits = {}) const;

    /// The passages of an answer that fit `budget` tokens, for a prompt; of 50 hits, unless the
    /// request says how many. `expand_neighbors` adds chunks around them while there is room.
    /// Tokens are counted as the best hit's collection's embedder does.
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
    /// Matching chunks in id order after `after`, at most `limit`.
    Result<std::vector<Chunk>> scan(const ReadScope& scope, const std::string& after,
                                    std::size_t limit, bool with_vectors = false,
                                    const CallLimits& limits = {}) const;

    /// Verifies everything, as it is now, and changes nothing: files, checksums, order of records,
    /// and that both legs and the statistics are what the records say. Damage is in the report; an
    /// error only says that there is none. It needs the memory of the largest collection's chunks.
    Result<CheckReport> check(const CallLimits& limits = {}) const;
    /// Copies the whole database, as it is at one point in time, into a directory that is missing
    /// or empty, while this one stays in use. The copy is durable, was checked, and opens like any
    /// database; until it is complete it does not open. AlreadyExists if the directory holds
    /// something, Corruption if a collection here is damaged. The report is that of the copy.
    Result<CheckReport> backup(const std::filesystem::path& path,
                               const CallLimits& limits = {}) const;

    /// Which collections take no writes, and why. One that a full disk keeps from writing is tried
    /// again.
    BackendHealth health() const;

    /// None for a collection whose vectors no embedder makes.
    Result<std::optional<TokenCounter>> token_counter(const std::string& collection) const;

    /// What is below this facade, for tools and tests; see backend.hpp.
    Backend& backend() const;
    /// What it was opened with, for those who read requests.
    const core::Vocabulary& vocabulary() const;

private:
    struct Impl;
    explicit Database(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace braid
