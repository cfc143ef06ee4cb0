#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/filter.hpp"
#include "braid/fusion/fuse.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"

namespace braid::retrieval {

/// A request with every default filled in and every contradiction found: what will be done.
struct Plan {
    std::string collection;
    std::string namespace_;
    Strategy strategy = Strategy::Hybrid;
    bool dense = false;   // legs to run
    bool sparse = false;  //
    std::size_t dense_depth = 0;
    std::size_t sparse_depth = 0;
    fusion::Options fusion;
    bool fill_scores = false;
    double dense_weight = 0;
    double sparse_weight = 0;
    std::size_t top_k = 0;
    std::optional<double> score_threshold;
    std::optional<Filter> filter;
    std::size_t expand_neighbors = 0;
    std::vector<std::string> warnings;
    std::vector<std::string> unused;
};

/// InvalidArgument for a value out of range or two that contradict each other, NotFound for an
/// unknown profile, Unsupported for what this version cannot do.
Result<Profile> find_profile(std::string_view name, std::span<const Profile> profiles);
Result<std::string> collection_of(const Request& request, const Profile& profile);
Result<Plan> make_plan(const Request& request, const Profile& profile, const Schema& schema);

}  // namespace braid::retrieval
