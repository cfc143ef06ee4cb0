#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "braid/reader.hpp"
#include "braid/remote/cluster_core.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

/// Legs as searches of a cluster, and their answers as hits.
namespace braid::remote {

/// Beyond this a cluster lists nothing (index.max_result_window).
inline constexpr std::size_t kMostHits = 10'000;
/// Vectors that are asked for beyond the depth: their order is that of floats until ours are made.
inline constexpr std::size_t kSpareVectors = 8;

/// The words of all phrasings as one scoring clause: a chunk keeps its best phrasing. None if there
/// is no word.
std::optional<Value> words_clause(const Leg& leg);

/// By score, then id; `after` continues a list.
Object sparse_body(const Leg& leg, Value words, Array scope, std::size_t size,
                   const RemoteCollection& collection);
/// Of named chunks, those without any of the words too.
Object score_body(Value words, Array scope, Array ids);
/// The nearest, with their vectors. Approximate: by the graph, widened for the asked recall.
Object dense_body(std::span<const float> vector, Array scope, std::size_t size, double recall);
/// The same by comparing with every vector in the scope.
Object exact_dense_body(std::span<const float> vector, Array scope, std::size_t size,
                        Metric metric);

/// How many candidates a graph search keeps for so many hits.
std::size_t ef_search(std::size_t hits, double recall) noexcept;

/// The same copies for the same question: copies may differ in what they count as deleted, and
/// scores with them. Other questions go elsewhere.
std::string preference_of(const Leg& leg);

/// The hits of a sparse answer, best first.
Result<std::vector<LegHit>> sparse_hits(const Value& answer, const RemoteCollection& collection);
/// The hits of a dense answer, scored by the vectors as they were written, in double, as the
/// embedded engine does; best first.
Result<std::vector<LegHit>> dense_hits(const Value& answer, std::span<const float> query,
                                       const RemoteCollection& collection);
/// Scores of vectors in the collection's metric, bit for bit the embedded engine's.
Result<std::vector<double>> vector_scores(std::span<const float> query,
                                          std::span<const std::vector<float>> vectors,
                                          Metric metric);

}  // namespace braid::remote
