#pragma once

#include <random>
#include <string>
#include <vector>

#include "braid/request.hpp"
#include "braid/retrieval/retriever.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

namespace braid::retrieval {

/// "now" of the random requests: chunks are up to 100 days older.
inline constexpr Timestamp kRandomNow{1'750'000'000'000'000};

/// Options whose clock stands still there.
inline RetrieverOptions fixed_clock() {
    RetrieverOptions options = application_options();
    options.now = [] { return kRandomNow; };
    return options;
}

/// Fills collections "artifacts", "artifact_chunks" and "memory" with chunks of few words, some
/// equal, some dated, of few sections and categories.
void fill(LocalStore& store, std::mt19937& rng);

/// A request that makes sense, of any strategy, fusion, preset, collections and stages.
Request random_request(std::mt19937& rng);

/// A few words, as the chunks have.
std::string random_words(std::mt19937& rng, std::size_t most);

}  // namespace braid::retrieval
