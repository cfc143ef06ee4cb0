#pragma once

#include <string>

#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operations.hpp"
#include "braid/value.hpp"

namespace braid::apps {

/// Decisions that can be found again: the methods `cstp.*`. A decision is any object with an "id",
/// kept as it is in the collection "decisions"; searched are its summary, decision, context and the
/// texts of its reasons. Safe for concurrent use.
class Decisions {
public:
    /// `operations` must outlive it.
    explicit Decisions(const service::Operations& operations) : operations_(operations) {}

    /// "query", "retrieval_mode" ("semantic"; "keyword", "hybrid"), "hybrid_weight" (0.7, of the
    /// semantic score), "top_k" (10), "category", "stakes", "project"; "query_embedding" where no
    /// embedder makes vectors. Gives
    ///
    ///     {"decisions": [...], "scores": {id: {"semantic", "keyword", "combined"}},
    ///      "retrieval_mode", "complete", "warnings", "unused"}
    ///
    /// Scores are normalised over the candidates of each search, max(50, 2 * top_k) of them; that
    /// of a search which did not run is null. Without any decision stored, nothing is found.
    Result<Value> query(const Object& params, const service::Caller& caller) const;

    /// "decisions": upserts them, all or none; gives `{"indexed", "replaced", "created",
    /// "warnings"}`.
    Result<Value> index(const Object& params, const service::Caller& caller) const;

private:
    const service::Operations& operations_;
};

/// What of a decision is searched: summary, decision, context and each reason's text, joined by one
/// space; what is missing counts as empty, what is null or no text is passed over.
std::string searchable_text(const Object& decision);

/// A decision as wire::chunk_from_value reads it. InvalidArgument: no object, no "id".
Result<Value> decision_chunk(const Value& decision);

/// What a collection of decisions is like, but for its embedder, as wire::schema_from_value reads.
/// `okapi`: words are weighed as rank-bm25 does, which a search cluster does not offer.
Object decisions_form(bool okapi = true);

/// What is told of a collection without.
inline constexpr const char* kDecisionsWithoutOkapi =
    "this database does not offer the BM25 variant \"okapi\": words of decisions are weighed by "
    "\"lucene\"";

}  // namespace braid::apps
