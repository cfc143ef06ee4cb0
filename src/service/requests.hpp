#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/answer.hpp"
#include "braid/collection.hpp"
#include "braid/database.hpp"
#include "braid/eval/compare.hpp"
#include "braid/eval/measures.hpp"
#include "braid/eval/queries.hpp"
#include "braid/eval/run_queries.hpp"
#include "braid/eval/trec.hpp"
#include "braid/filter.hpp"
#include "braid/request.hpp"
#include "braid/service/caller.hpp"

/// What can be asked of a database besides a search: for each operation a struct of parameters,
/// with its result (`Output`) and the name by which every door knows it (`kName`). `Operations`
/// runs them in this process, `Service` wherever the database is; operation_json.hpp has their
/// JSON.
namespace braid::service {

/// The collection and the namespace an operation works on.
struct Place {
    std::string collection{kDefaultCollection};
    /// None: "default", or the first namespace of a caller who may not use that one.
    std::optional<std::string> namespace_{};
};

/// Passages for a prompt.
struct ContextRequest {
    static constexpr std::string_view kName = "context";
    using Output = Context;
    static constexpr std::size_t kMaxBudget = 1'000'000;

    Request request;
    std::size_t budget = 2000;  // tokens
};

/// Where a chunk stands for a search.
struct ExplainRequest {
    static constexpr std::string_view kName = "explain";
    using Output = Explanation;

    Request request;
    std::string chunk_id;
};

/// Why an answer does not contain a chunk.
struct WhyNotRequest {
    static constexpr std::string_view kName = "why_not";
    using Output = WhyNot;

    Request request;
    std::string chunk_id;
};

struct EvaluationReport {
    eval::Comparison comparison;
    eval::RunOutcome outcome;
    bool per_query = false;  // as asked for
};

/// Searches every query and measures what was found against judgements.
struct EvaluateRequest {
    static constexpr std::string_view kName = "eval";
    using Output = EvaluationReport;

    std::vector<eval::Query> queries;
    eval::Qrels qrels;
    Request request;  // how to search; without a query
    std::vector<eval::Measure> measures = eval::default_measures();
    std::size_t documents = 100;  // per query
    bool per_query = false;       // give each query's values too
};

struct AddReport {
    std::string collection;
    bool created = false;
    std::string namespace_;
    std::vector<std::string> chunk_ids;
    WriteReport write;
};

/// Stores chunks, all of them or none. A missing collection is created.
struct AddRequest {
    static constexpr std::string_view kName = "add";
    using Output = AddReport;

    Place at;
    std::vector<Chunk> chunks;
    std::optional<Schema> schema{};  // of a new collection; none: with the usual embedder
    std::optional<Version> if_version{};
    bool replace_documents = false;  // see WriteOptions
    bool skip_unchanged = false;
    std::vector<std::string> warnings{};  // about the chunks as they were read, for the report
};

struct UpdateReport {
    std::string collection;
    WriteReport write;
};

/// Changes everything about chunks but their texts and vectors.
struct UpdateRequest {
    static constexpr std::string_view kName = "update";
    using Output = UpdateReport;

    Place at;
    std::vector<MetadataUpdate> updates;
    std::optional<Version> if_version{};
};

struct RemoveReport {
    std::string collection;
    WriteReport write;
};

struct RemoveRequest {
    static constexpr std::string_view kName = "delete";
    using Output = RemoveReport;

    Place at;
    DeleteSelector which;
    bool everything = false;  // must be set where the filter matches everything
    std::optional<Version> if_version{};
};

/// NotFound.
struct ChunkRequest {
    static constexpr std::string_view kName = "chunk";
    using Output = Chunk;

    Place at;
    std::string chunk_id;
    bool vectors = false;
};

/// A chunk for each id, in order; none if there is no such chunk.
struct GetRequest {
    static constexpr std::string_view kName = "get";
    using Output = std::vector<std::optional<Chunk>>;

    Place at;
    std::vector<std::string> chunk_ids;
    bool vectors = false;
};

struct ScanPage {
    std::vector<Chunk> chunks;
    std::optional<std::string> after;  // where the next page begins; none: this was the last
};

/// Chunks in the order of their ids.
struct ScanRequest {
    static constexpr std::string_view kName = "scan";
    using Output = ScanPage;

    Place at;
    std::optional<Filter> filter{};
    std::string after{};  // a chunk id
    std::size_t limit = 100;
    bool vectors = false;
};

struct DocumentChunks {
    std::string document_id;
    std::vector<Chunk> chunks;  // in the document's order
};

/// NotFound.
struct DocumentRequest {
    static constexpr std::string_view kName = "document";
    using Output = DocumentChunks;

    Place at;
    std::string document_id;
};

struct NeighborChunks {
    std::vector<Chunk> chunks;
    std::string text;  // of all of them
};

/// A chunk and those around it.
struct NeighborsRequest {
    static constexpr std::string_view kName = "neighbors";
    using Output = NeighborChunks;

    Place at;
    std::string chunk_id;
    std::size_t count = 1;  // on each side
};

struct FacetReport {
    std::string field;
    std::vector<FacetCount> values;
};

struct FacetsRequest {
    static constexpr std::string_view kName = "facets";
    using Output = FacetReport;
    static constexpr std::size_t kMaxValues = 10'000;

    Place at;
    std::string field{};  // empty: which fields the metadata has
    std::optional<Filter> filter{};
    std::size_t limit = 20;  // values
};

struct HighlightedText {
    std::vector<TextRange> matches;  // words that the collection takes for words of the query
    TextRange window;                // the passage with most of them
};

struct HighlightRequest {
    static constexpr std::string_view kName = "highlight";
    using Output = std::vector<HighlightedText>;
    static constexpr std::size_t kMaxWindow = 100'000;

    Place at;
    std::string query;
    std::vector<std::string> texts;
    std::size_t window = 300;  // code points
};

struct CallerRights {
    std::string name;
    bool sees_everything = false;
    std::optional<Access> everywhere;  // to collections of any name
    std::vector<std::pair<std::string, Access>> collections;
    std::vector<std::pair<std::string, Access>> grants;  // of these names, there or not
};

struct WhoamiRequest {
    static constexpr std::string_view kName = "whoami";
    using Output = CallerRights;
};

struct ChunkCount {
    std::uint64_t count = 0;
};

struct CountRequest {
    static constexpr std::string_view kName = "count";
    using Output = ChunkCount;

    Place at;
    std::optional<Filter> filter{};
};

/// Those the caller may read.
struct CollectionsRequest {
    static constexpr std::string_view kName = "collections";
    using Output = std::vector<CollectionInfo>;
};

struct DescribeRequest {
    static constexpr std::string_view kName = "describe";
    using Output = CollectionInfo;

    Place at;
};

/// AlreadyExists.
struct CreateCollectionRequest {
    static constexpr std::string_view kName = "create_collection";
    using Output = CollectionInfo;

    std::string name;
    std::optional<Schema> schema{};  // none: with the usual embedder
    bool unfinished = false;         // nobody can read it before FinishCollectionRequest
};

struct FinishReport {
    std::string collection;
};

struct FinishCollectionRequest {
    static constexpr std::string_view kName = "finish_collection";
    using Output = FinishReport;

    std::string collection;
};

struct DropReport {
    std::string collection;
};

struct DropCollectionRequest {
    static constexpr std::string_view kName = "drop_collection";
    using Output = DropReport;

    std::string collection;
};

struct StatsReport {
    std::string collection;
    std::string namespace_;
    CollectionStats stats;
};

struct StatsRequest {
    static constexpr std::string_view kName = "stats";
    using Output = StatsReport;

    Place at;
    bool probe = false;  // Database::probe first; the caller must be allowed to write
};

struct CompactOutcome {
    std::string collection;
    CompactReport sizes;
};

/// Database::compact. The caller's deadline is meant for searches and does not count.
struct CompactRequest {
    static constexpr std::string_view kName = "compact";
    using Output = CompactOutcome;

    std::string collection;
};

struct ReembedOutcome {
    std::string collection;
    std::string embedder;
    ReembedReport report;
};

/// Database::reembed. The caller's deadline does not count; a cancelled call can be repeated, and
/// continues where it stopped.
struct ReembedRequest {
    static constexpr std::string_view kName = "reembed";
    using Output = ReembedOutcome;

    std::string collection;
    std::optional<std::string> embedder{};  // none: the collection's own
};

struct ClickReport {
    std::string id;
};

/// Somebody chose a chunk of an answer that an experiment made (docs/experiments.md).
struct ClickRequest {
    static constexpr std::string_view kName = "click";
    using Output = ClickReport;

    std::string id;  // the answer's
    std::string chunk_id;
};

struct RankerReport {
    std::string collection;
    std::string model;  // JSON (docs/ranking.md); empty: it has none
};

/// The collection's learned ranking, for callers who administer all of it.
struct RankerRequest {
    static constexpr std::string_view kName = "ranker";
    using Output = RankerReport;

    std::string collection;
};

struct SetRankerReport {
    std::string collection;
    bool stored = false;  // false: it has none any more
};

/// Database::set_ranker.
struct SetRankerRequest {
    static constexpr std::string_view kName = "set_ranker";
    using Output = SetRankerReport;

    std::string collection;
    std::string model;  // as above
};

/// Database::check, for callers who administer all of it. The caller's deadline does not count.
struct CheckRequest {
    static constexpr std::string_view kName = "check";
    using Output = CheckReport;
};

}  // namespace braid::service
