#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/answer.hpp"
#include "braid/collection.hpp"
#include "braid/types.hpp"

namespace braid::rank {

/// One number that a learned ranking looks at.
struct Feature {
    std::string_view name;
    /// 1: a larger value never lowers the learned score; -1: it never raises it; 0: either way.
    int monotone = 0;
    /// Always from 0 to 1: a model may weigh it without trees.
    bool unit = false;
    std::string_view meaning;
};

inline constexpr std::size_t kFeatures = 37;
/// The version of the list below. A model names the features it was trained on.
inline constexpr int kFeatureVersion = 2;

/// The vector, in order. docs/ranking.md describes it.
const std::array<Feature, kFeatures>& features() noexcept;
/// Where a feature stands; kFeatures if there is none of that name.
std::size_t feature_index(std::string_view name) noexcept;

/// The query as the collections analyse it.
struct QueryTerms {
    std::vector<std::string> words;                     // in order, with repetitions
    std::map<std::string, double, std::less<>> weight;  // idf of each distinct one, above 0
    double mean_length = 0;                             // of chunks; 0: of the candidates
};

/// One candidate: how it was found, and the terms of its texts.
struct Candidate {
    const Receipt* receipt = nullptr;
    const Chunk* chunk = nullptr;
    std::vector<std::string> title;
    std::vector<std::string> name;  // of the title without what stands in brackets
    std::vector<std::string> section;
    std::vector<std::string> content;
};

using Vector = std::array<double, kFeatures>;

/// The vectors of one query's candidates, which stand in the order of their list. Several features
/// compare a candidate with the others: the same list gives the same vectors. All are finite.
std::vector<Vector> feature_vectors(const QueryTerms& query, std::span<const Candidate> candidates);

}  // namespace braid::rank
