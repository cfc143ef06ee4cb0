#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "braid/reader.hpp"
#include "braid/remote/cluster_core.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

/// Legs as cluster searches, and their answers as hits.
namespace braid::remote {

/// A cluster lists no more than this (index.max_result_window).
inline constexpr std::size_t kMostHits = 10'000;
/// Vectors requested beyond the depth: they come in the order of floats until our scores are
/// computed.
inline constexpr std::size_t kSpareVectors = 8;

/// What a sparse leg searches for.
struct SearchedWords {
    std::optional<Value> clause;  // that scores; none: there is no word
    std::vector<PatternWords> patterns;
    std::vector<std::string> warnings;
};
/// The words of all phrasings: a chunk keeps its best phrasing. Each term is a named query.
SearchedWords phrasings_clause(const Leg& leg);

/// By score, then id; `after` continues a list.
Object sparse_body(const Leg& leg, Value words, Array scope, std::size_t size,
                   const RemoteCollection& collection);
/// Scores of named chunks, including those with none of the words.
Object score_body(Value words, Array scope, Array ids);
/// The nearest, with their vectors. Approximate: through the graph, widened for the recall asked
/// for.
Object dense_body(std::span<const float> vector, Array scope, std::size_t size, double recall);
/// The same by comparing every vector in the scope.
Object exact_dense_body(std::span<const float> vector, Array scope, std::size_t size,
                        Metric metric);

/// How many candidates a graph search keeps for this many hits.
std::size_t ef_search(std::size_t hits, double recall) noexcept;

/// Sends the same question to the same copies: copies may differ in which deleted chunks they still
/// count, and so in scores. Other questions go elsewhere.
std::string preference_of(const Leg& leg);

/// Of the named queries, those that no hit of a sparse answer matches.
std::vector<std::string> unmatched_terms(const Leg& leg, const Value& answer);
/// The hits of a sparse answer, best first.
Result<std::vector<LegHit>> sparse_hits(const Value& answer, const RemoteCollection& collection);
/// The hits of a dense answer, best first, scored from the vectors as written, in double, as the
/// embedded engine does.
Result<std::vector<LegHit>> dense_hits(const Value& answer, std::span<const float> query,
                                       const RemoteCollection& collection);
/// Scores of vectors in the collection's metric, bit for bit those of the embedded engine.
Result<std::vector<double>> vector_scores(std::span<const float> query,
                                          std::span<const std::vector<float>> vectors,
                                          Metric metric);

}  // namespace braid::remote
