#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/engine/embedder_registry.hpp"
#include "braid/reader.hpp"
#include "braid/result.hpp"

namespace braid::engine {

/// Fewer chunks are not probed: the result would be chance.
inline constexpr std::uint64_t kProbedChunks = 100;

/// Probes the legs of a namespace: takes some chunks, makes a question from a part of each, and has
/// both legs search for the rest of the chunk among others (LegProbes). Everything searched is a
/// copy in memory. The same chunks give the same figures, in whatever order they were written.
/// Costs a few hundred embeddings. None if there are too few chunks, or none with sentences.
Result<std::optional<LegProbes>> probe_legs(const Reader& reader, const ReadScope& scope,
                                            EmbedderRegistry& registry, const CallLimits& limits);

/// Whether a namespace has changed enough, by a quarter, to be probed again.
bool probing_due(const CollectionStats& stats);

/// Its sentences or, if it has few, its lines; only those of four words or more.
std::vector<std::string_view> sentences_of(std::string_view text);

}  // namespace braid::engine
