#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "braid/database.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/server/caller.hpp"
#include "braid/value.hpp"

namespace braid::server {

struct ServiceOptions {
    std::vector<Profile> profiles;  // those the database was opened with
    std::string embedder = "none";  // of collections that are created by a write
};

/// What every door can ask of a database, from JSON to JSON: parameters by name, unknown ones an
/// error that names the nearest known. Each checks the caller's rights and limits first. Safe for
/// concurrent use.
///
/// Most take "collection" (default "default") and "namespace" (default "default").
class Operations {
public:
    /// The database must outlive it.
    explicit Operations(Database& database, ServiceOptions options = {});

    /// A request (docs/request.schema.json) to an answer (docs/answer.schema.json).
    Result<Value> retrieve(const Object& params, const Caller& caller) const;
    /// `{"requests": [...]}` to `{"answers": [answer or {"error": ...}]}`, in order.
    Result<Value> retrieve_batch(const Object& params, const Caller& caller) const;
    /// A request and "budget" (2000 tokens) to passages for a prompt.
    Result<Value> context(const Object& params, const Caller& caller) const;

    /// "chunks", "if_version"; a missing collection is created, by "schema" if given. All chunks go
    /// to one namespace.
    Result<Value> add(const Object& params, const Caller& caller) const;
    /// "updates": `[{"chunk_id", "metadata", "created_at", "sensitivity", "visibility_scope"}]`.
    Result<Value> update(const Object& params, const Caller& caller) const;
    /// One of "chunk_ids", "document_ids" and "filter"; a filter that matches everything needs
    /// "everything": true.
    Result<Value> remove(const Object& params, const Caller& caller) const;

    /// "chunk_ids", "vectors" (false) to `{"chunks": [chunk or null]}`, in order.
    Result<Value> get(const Object& params, const Caller& caller) const;
    /// "chunk_id", "count" (1) to `{"chunks", "text"}`: the chunk and those around it.
    Result<Value> neighbors(const Object& params, const Caller& caller) const;
    /// "field", "limit" (20), "filter" to `{"field", "values": [{"value", "count"}]}`.
    Result<Value> facets(const Object& params, const Caller& caller) const;
    /// "filter" to `{"count"}`.
    Result<Value> count(const Object& params, const Caller& caller) const;
    /// `{"collections": [...]}`: those the caller may read.
    Result<Value> collections(const Object& params, const Caller& caller) const;
    Result<Value> stats(const Object& params, const Caller& caller) const;

    /// A request within the caller's limits, over collections it may read.
    Result<Request> read_request(const Value& json, const Caller& caller) const;
    Result<> check(const Request& request, const Caller& caller) const;

    /// Creates the collection if it is missing; true if it did. Without `schema` it gets the
    /// configured embedder.
    Result<bool> ensure_collection(const std::string& name, const Schema* schema) const;

    Database& database() const noexcept { return database_; }
    const ServiceOptions& options() const noexcept { return options_; }

private:
    std::vector<std::string> collections_of(const Request& request) const;

    Database& database_;
    ServiceOptions options_;
};

}  // namespace braid::server
