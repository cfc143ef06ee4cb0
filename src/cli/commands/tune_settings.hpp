#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/request.hpp"
#include "braid/value.hpp"

namespace braid::cli {

/// One way to search.
struct Trial {
    std::string name;
    Request request;
    Object profile;  // what differs from today's, as a profile says it

    bool fuses() const { return request.strategy == Strategy::Hybrid; }
};

// Places among the settings to try.
inline constexpr std::size_t kSparseAlone = 1;

/// What `braid tune` tries on a collection with this schema: first the way it is searched `now`,
/// then words alone. Without vectors there is one leg, and nothing to fuse. `words_vary`: also BM25
/// and field weights, which not every database takes from a request.
std::vector<Trial> settings_to_try(const Request& now, const Schema& schema, bool words_vary);

}  // namespace braid::cli
