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

/// Fewer chunks are not probed: what would be found out is chance.
inline constexpr std::uint64_t kProbedChunks = 100;

/// Probes the legs of a namespace: some chunks are taken, a question is made of a part of each, and
/// both legs search for what is left of it among others (LegProbes). Everything that is searched is
/// a copy in memory. The same chunks give the same figures, in whatever order they were written.
/// Costs a few hundred embeddings. None if there are too few chunks, or none with sentences.
Result<std::optional<LegProbes>> probe_legs(const Reader& reader, const ReadScope& scope,
                                            EmbedderRegistry& registry, const CallLimits& limits);

/// Whether a namespace has changed so much that it should be probed again: by a quarter.
bool probing_due(const CollectionStats& stats);

/// Its sentences, or, of a text that has few, its lines; those of four words and more.
std::vector<std::string_view> sentences_of(std::string_view text);

}  // namespace braid::engine
