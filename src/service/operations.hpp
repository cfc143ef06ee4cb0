#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/database.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/value.hpp"

namespace braid::service {

struct ServiceOptions {
    std::vector<Profile> profiles;  // those the database was opened with
    std::string embedder = "none";  // of collections that are created by a write
    /// Embedders that callers may name for new collections, besides that one, "none" and
    /// "external"; nullopt: every one the database can make.
    std::optional<std::vector<std::string>> embedders{};
};

class Operations;

/// An operation by the name that every door knows it by: "stats", "delete". In JSON-RPC the name
/// follows "braid.". Applications have their own.
struct NamedOperation {
    std::string_view name;
    Result<Value> (*run)(const Operations& operations, const Object& params, const Caller& caller);
    bool writes = false;  // chunks or collections, so that doing it twice may differ from once
};
std::span<const NamedOperation> named_operations() noexcept;
/// How many requests a call of that operation counts as: a batch as many as it holds.
std::size_t requests_in(std::string_view operation, const Object& params) noexcept;

/// What every door can ask of a database, from JSON to JSON: parameters by name, unknown ones an
/// error that names the nearest known. Each checks the caller's rights and limits first. Safe for
/// concurrent use.
///
/// Most take "collection" (default "default") and "namespace" (default "default").
class Operations {
public:
    using Member = Result<Value> (Operations::*)(const Object& params, const Caller& caller) const;

    /// The database must outlive it.
    explicit Operations(Database& database, ServiceOptions options = {});

    /// One of those below, as doors run them: an error about a collection that is not there names
    /// those that are, as far as the caller may read them.
    Result<Value> run(const NamedOperation& operation, const Object& params,
                      const Caller& caller) const;
    Result<Value> run(Member member, const Object& params, const Caller& caller) const;
    /// The error with those names.
    Error with_collections(Error error, const Caller& caller) const;

    /// A request (docs/request.schema.json) to an answer (docs/answer.schema.json).
    Result<Value> retrieve(const Object& params, const Caller& caller) const;
    /// `{"requests": [...]}` to `{"answers": [answer or {"error": ...}]}`, in order.
    Result<Value> retrieve_batch(const Object& params, const Caller& caller) const;
    /// A request and "budget" (2000 tokens) to passages for a prompt.
    Result<Value> context(const Object& params, const Caller& caller) const;
    /// A request and "chunk_id": where that chunk stands, or why the answer does not hold it.
    Result<Value> explain(const Object& params, const Caller& caller) const;
    Result<Value> why_not(const Object& params, const Caller& caller) const;
    /// "queries" `[{"id", "text"}]`, "qrels" `{query id: {document id: relevance}}`, "request" (how
    /// to search), "measures" (`["nDCG@10"]`), "documents" (100 per query), "per_query" (false) to
    /// the measures with their intervals.
    Result<Value> evaluate(const Object& params, const Caller& caller) const;

    /// "chunks", "if_version"; a missing collection is created, by "schema" if given. All chunks go
    /// to one namespace. "skip_unchanged": see WriteOptions. "replace_documents": other chunks of
    /// their documents are deleted by the same write.
    Result<Value> add(const Object& params, const Caller& caller) const;
    /// "updates": `[{"chunk_id", "metadata", "created_at", "expires_at", "sensitivity",
    /// "visibility_scope"}]`.
    Result<Value> update(const Object& params, const Caller& caller) const;
    /// One of "chunk_ids", "document_ids" and "filter"; a filter that matches everything needs
    /// "everything": true.
    Result<Value> remove(const Object& params, const Caller& caller) const;

    /// "chunk_id", "vectors" (false) to the chunk; NotFound.
    Result<Value> chunk(const Object& params, const Caller& caller) const;
    /// "filter", "after" (a chunk id), "limit" (100), "vectors" (false) to `{"chunks", "after"}`,
    /// in id order; "after" is null at the end.
    Result<Value> scan(const Object& params, const Caller& caller) const;
    /// "document_id" to `{"document_id", "chunks"}`, in the document's order; NotFound.
    Result<Value> document(const Object& params, const Caller& caller) const;
    /// "chunk_ids", "vectors" (false) to `{"chunks": [chunk or null]}`, in order.
    Result<Value> get(const Object& params, const Caller& caller) const;
    /// "chunk_id", "count" (1) to `{"chunks", "text"}`: the chunk and those around it.
    Result<Value> neighbors(const Object& params, const Caller& caller) const;
    /// "field", "limit" (20), "filter" to `{"field", "values": [{"value", "count"}]}`.
    Result<Value> facets(const Object& params, const Caller& caller) const;
    /// "query", "texts", "window" (300 code points) to `{"texts": [{"matches": [[begin, end]],
    /// "window": [begin, end]}]}`, in code points: where each text holds words that the collection
    /// takes for words of the query, and the passage with most of them.
    Result<Value> highlight(const Object& params, const Caller& caller) const;
    /// `{"name", "sees_everything", "everywhere", "collections": {name: right}}` of the caller:
    /// its highest right to collections of any name, null if none, and to those that are there.
    Result<Value> whoami(const Object& params, const Caller& caller) const;
    /// "filter" to `{"count"}`.
    Result<Value> count(const Object& params, const Caller& caller) const;
    /// `{"collections": [...]}`: those the caller may read.
    Result<Value> collections(const Object& params, const Caller& caller) const;
    Result<Value> describe(const Object& params, const Caller& caller) const;
    /// "name", "schema"; AlreadyExists. "unfinished": nobody can read it before
    /// finish_collection (Database::begin_collection).
    Result<Value> create_collection(const Object& params, const Caller& caller) const;
    /// "collection", which has no default here, to `{"collection", "finished"}`.
    Result<Value> finish_collection(const Object& params, const Caller& caller) const;
    /// "collection", which has no default here, to `{"collection", "dropped"}`.
    Result<Value> drop_collection(const Object& params, const Caller& caller) const;
    Result<Value> stats(const Object& params, const Caller& caller) const;
    /// Database::compact of "collection", which has no default here, to `{"collection", "chunks",
    /// "bytes_before", "bytes_after"}`. The caller's deadline does not count.
    Result<Value> compact(const Object& params, const Caller& caller) const;
    /// Verifies the whole database (Database::check), for callers who administer all of it, to
    /// `{"clean", "collections", "chunks", "records", "bytes", "superseded", "problems",
    /// "unfinished", "notes"}`. The caller's deadline is one of searches and does not count.
    Result<Value> check_database(const Object& params, const Caller& caller) const;

    /// A request within the caller's limits, over collections it may read.
    Result<Request> read_request(const Value& json, const Caller& caller) const;
    Result<> check(const Request& request, const Caller& caller) const;
    /// A caller who may not use the namespace "default" means its own when it names none.
    Request in_own_namespace(Request request, const Caller& caller) const;

    /// Collections the caller may read, with what it may see of them.
    Result<std::vector<CollectionInfo>> visible_collections(const Caller& caller) const;

    /// Asks the database on the caller's behalf, within its limits; its observer sees the answers.
    Result<Answer> search(const Request& request, const Caller& caller) const;
    std::vector<Result<Answer>> search_batch(std::span<const Request> requests,
                                             const Caller& caller) const;
    /// Adds chunks on the caller's behalf. Its deadline is one of searches and does not count.
    Result<WriteReport> write(const std::string& collection, std::vector<Chunk> chunks,
                              const std::string& namespace_, const Caller& caller,
                              WriteOptions options = {}) const;

    /// Creates the collection if it is missing; true if it did. Without `schema` it gets the
    /// configured embedder.
    Result<bool> ensure_collection(const std::string& name, const Schema* schema) const;

    Database& database() const noexcept { return database_; }
    const ServiceOptions& options() const noexcept { return options_; }

private:
    /// A request beside "chunk_id".
    Result<std::pair<Request, std::string>> read_question(const Object& params,
                                                          const Caller& caller) const;
    /// The collection as a caller sees it who is limited to namespaces.
    Result<CollectionInfo> as_seen(CollectionInfo info, const Caller& caller) const;
    /// NotFound, with those there are, for an embedder that callers may not name.
    Result<> check_embedder(const Schema& schema) const;

    Database& database_;
    ServiceOptions options_;
};

}  // namespace braid::service
