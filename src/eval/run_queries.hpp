#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "braid/answer.hpp"
#include "braid/eval/queries.hpp"
#include "braid/eval/trec.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::eval {

/// Answers requests side by side, one result each, in order: Database::retrieve_batch.
using AnswerBatch = std::function<std::vector<Result<Answer>>(std::span<const Request>)>;

struct RunRequest {
    Request request;  // how every query is searched; `query` and `query_embedding` are put in
    std::string name = "braid";
    std::size_t documents = 100;                     // per query, at most
    std::vector<std::vector<float>> vectors;         // one per query, or none
    std::size_t batch = 64;                          // queries handed over at once
    std::function<void(std::size_t done)> progress;  // may be empty
};

struct RunOutcome {
    Run run;
    std::vector<Timings> timings;                 // of each query
    double seconds = 0;                           // of all of them, several at a time
    std::size_t incomplete = 0;                   // answers that are
    std::map<std::string, std::size_t> warnings;  // numbers in them as "N"; and how many gave each
};

/// Searches every query and ranks documents: each once, at the place of its best chunk. Where the
/// chunks found belong to too few documents, more chunks are asked for.
///
/// Scores are those of the chunks, except that one above the score before it (a hit from below the
/// depth of the legs) is lowered to that. Fails, naming the query, if one fails.
Result<RunOutcome> run_queries(std::span<const Query> queries, const RunRequest& request,
                               const AnswerBatch& answer);

/// `{"run", "queries", "seconds", "queries_per_second", "incomplete", "legs": {"dense": {"mean_ms",
/// "p50_ms", "p99_ms", "max_ms"}, ...}, "warnings": {"text": 3}}`. Legs: embed, dense, sparse,
/// fusion, hydrate, and total.
Value timings_to_value(const RunOutcome& outcome);

}  // namespace braid::eval
