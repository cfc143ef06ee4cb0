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

namespace braid::core {
struct Vocabulary;
}

namespace braid::retrieval {

/// One collection that will be searched.
struct CollectionPlan {
    std::string name;
    Schema schema;        // its scoring is the request's
    Bm25Choice bm25;      // what of that the collection does not have by itself
    bool dense = false;   // legs to run
    bool sparse = false;  //
    double weight = 1;    // among several
};

/// A request with every default filled in and every contradiction found: what will be done.
struct Plan {
    std::vector<CollectionPlan> collections;
    bool several = false;  // were asked for: their lists are fused too, even if one is left
    std::string namespace_;
    Strategy strategy = Strategy::Hybrid;
    std::size_t dense_depth = 0;
    std::size_t sparse_depth = 0;
    std::size_t max_hops = 0;
    std::size_t hop_top_k = 0;
    fusion::Options fusion;  // of the legs of one collection
    fusion::Options across;  // of the lists of several collections
    bool by_scores = false;  // instead: their legs are pooled, as if they were one collection
    bool fill_scores = false;
    double dense_weight = 0;
    double sparse_weight = 0;
    double most_dense_weight = 1;  // that "auto" may choose
    std::size_t top_k = 0;
    std::optional<double> score_threshold;
    std::optional<Filter> filter;
    std::size_t expand_neighbors = 0;
    std::vector<std::string> shortfalls;  // what was asked for and cannot be done
    std::vector<std::string> warnings;
    std::vector<std::string> unused;  // keys given to no effect: unused.hpp says which
};

/// The profile of that name: one of `profiles`, a built-in one, or the vocabulary's. NotFound lists
/// those there are.
Result<Profile> find_profile(std::string_view name, std::span<const Profile> profiles,
                             const core::Vocabulary& vocabulary);

/// The collections to search, as they were asked for; InvalidArgument if one is named twice.
Result<std::vector<std::string>> collections_of(const Request& request, const Profile& profile);

/// `names` are the collections asked for, `found` those that exist, with name and schema;
/// `stage_filters` is what the stages ask of the legs. InvalidArgument for a value out of range or
/// two that contradict each other, Unsupported for what this version cannot do.
Result<Plan> make_plan(const Request& request, const Profile& profile,
                       std::span<const std::string> names, std::vector<CollectionPlan> found,
                       std::vector<Filter> stage_filters);

/// Where the question is in a language that no model searched by knows, words count for more, and
/// the plan's warnings say so. `english` names the embedders that know English alone. Weights that
/// the request gives stay.
void lean_on_words(const Request& request, std::span<const std::string> english, Plan& plan);

/// The request's choice over the profile's.
Bm25Choice chosen_bm25(const Request& request, const Profile& profile);
/// Without the text fields that the schema has not.
Bm25Choice for_schema(Bm25Choice choice, const Schema& schema);

/// The request's filter, its documents and what the stages ask, in one; none: all chunks match.
std::optional<Filter> whole_filter(const Request& request, std::vector<Filter> stage_filters);

}  // namespace braid::retrieval
