#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "braid/database.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/requests.hpp"

namespace braid::service {

class Experiment;

struct ServiceOptions {
    std::vector<Profile> profiles;  // those the database was opened with
    std::string embedder = "none";  // of collections that are created by a write
    /// Embedders that callers may name for new collections, besides that one, "none" and
    /// "external"; nullopt: every one the database can make.
    std::optional<std::vector<std::string>> embedders{};
    /// Takes part in answering other programs' callers; null: there is none.
    std::shared_ptr<Experiment> experiment{};
};

/// What every door can ask of a database. Each operation first checks the caller's rights and
/// limits, and tells its observer what was given. Safe for concurrent use.
class Operations {
public:
    /// The database must outlive it.
    explicit Operations(Database& database, ServiceOptions options = {});

    /// Any operation of requests.hpp. An error about a missing collection names those that exist,
    /// as far as the caller may read them.
    template <class Operation>
    Result<typename Operation::Output> run(Operation operation, const Caller& caller) const {
        auto result = perform(std::move(operation), caller);
        if (!result) return tl::unexpected(with_collections(std::move(result).error(), caller));
        return result;
    }
    /// The error with those names.
    Error with_collections(Error error, const Caller& caller) const;

    /// check(), then search().
    Result<Answer> retrieve(const Request& request, const Caller& caller) const;
    /// The same for several, in parallel: for each request, in order, an answer or an error.
    std::vector<Result<Answer>> retrieve_batch(std::vector<Result<Request>> requests,
                                               const Caller& caller) const;
    /// Whether the request stays within the caller's limits, over collections it may read.
    Result<> check(const Request& request, const Caller& caller) const;
    /// Asks the database on behalf of a caller whose request has been checked.
    Result<Answer> search(const Request& request, const Caller& caller) const;
    std::vector<Result<Answer>> search_batch(std::span<const Request> requests,
                                             const Caller& caller) const;

    /// Collections the caller may read, with what it may see of them.
    Result<std::vector<CollectionInfo>> visible_collections(const Caller& caller) const;

    /// Stores chunks on the caller's behalf in an existing collection, for callers that made the
    /// chunks themselves. The caller's deadline is meant for searches and does not count.
    Result<WriteReport> write(const std::string& collection, std::vector<Chunk> chunks,
                              const std::string& namespace_, const Caller& caller,
                              WriteOptions options = {}) const;

    /// Creates the collection if it is missing; true if it did. Without `schema` it gets the
    /// configured embedder.
    Result<bool> ensure_collection(const std::string& name, const Schema* schema) const;

    Database& database() const noexcept { return database_; }
    const ServiceOptions& options() const noexcept { return options_; }

private:
    Result<Context> perform(ContextRequest wanted, const Caller& caller) const;
    Result<Explanation> perform(ExplainRequest wanted, const Caller& caller) const;
    Result<WhyNot> perform(WhyNotRequest wanted, const Caller& caller) const;
    Result<EvaluationReport> perform(EvaluateRequest wanted, const Caller& caller) const;
    Result<AddReport> perform(AddRequest wanted, const Caller& caller) const;
    Result<UpdateReport> perform(UpdateRequest wanted, const Caller& caller) const;
    Result<RemoveReport> perform(const RemoveRequest& wanted, const Caller& caller) const;
    Result<Chunk> perform(const ChunkRequest& wanted, const Caller& caller) const;
    Result<std::vector<std::optional<Chunk>>> perform(const GetRequest& wanted,
                                                      const Caller& caller) const;
    Result<ScanPage> perform(const ScanRequest& wanted, const Caller& caller) const;
    Result<DocumentChunks> perform(DocumentRequest wanted, const Caller& caller) const;
    Result<NeighborChunks> perform(const NeighborsRequest& wanted, const Caller& caller) const;
    Result<FacetReport> perform(FacetsRequest wanted, const Caller& caller) const;
    Result<std::vector<HighlightedText>> perform(const HighlightRequest& wanted,
                                                 const Caller& caller) const;
    Result<CallerRights> perform(const WhoamiRequest& wanted, const Caller& caller) const;
    Result<ChunkCount> perform(const CountRequest& wanted, const Caller& caller) const;
    Result<std::vector<CollectionInfo>> perform(const CollectionsRequest& wanted,
                                                const Caller& caller) const;
    Result<CollectionInfo> perform(const DescribeRequest& wanted, const Caller& caller) const;
    Result<CollectionInfo> perform(const CreateCollectionRequest& wanted,
                                   const Caller& caller) const;
    Result<FinishReport> perform(FinishCollectionRequest wanted, const Caller& caller) const;
    Result<DropReport> perform(DropCollectionRequest wanted, const Caller& caller) const;
    Result<StatsReport> perform(const StatsRequest& wanted, const Caller& caller) const;
    Result<CompactOutcome> perform(CompactRequest wanted, const Caller& caller) const;
    Result<ReembedOutcome> perform(ReembedRequest wanted, const Caller& caller) const;
    Result<ClickReport> perform(const ClickRequest& wanted, const Caller& caller) const;
    Result<RankerReport> perform(RankerRequest wanted, const Caller& caller) const;
    Result<SetRankerReport> perform(SetRankerRequest wanted, const Caller& caller) const;
    Result<CheckReport> perform(const CheckRequest& wanted, const Caller& caller) const;

    /// The request as the caller means it: a caller who may not use the namespace "default" means
    /// its own if it names none.
    Request in_own_namespace(Request request, const Caller& caller) const;
    /// check(), then in_own_namespace().
    Result<Request> admitted(Request request, const Caller& caller) const;
    /// What the caller is told, and its observer.
    Result<Answer> given(Result<Answer> answer, const Caller& caller) const;
    /// The collection as seen by a caller who is limited to some namespaces.
    Result<CollectionInfo> as_seen(CollectionInfo info, const Caller& caller) const;
    /// NotFound, listing those that exist, for an embedder that callers may not name.
    Result<> check_embedder(const Schema& schema) const;

    Database& database_;
    ServiceOptions options_;
};

/// Where the operation works, for a caller with the right to it.
Result<ReadScope> scope_of(const Place& place, const Caller& caller, Access access,
                           const std::optional<Filter>& filter = {});

}  // namespace braid::service
