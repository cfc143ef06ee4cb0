#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/collection.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid {

/// How ranked lists become one. What is not given comes from the profile.
struct FusionChoice {
    std::optional<FusionMethod> method;
    std::optional<double> k;            // rrf; k + rank must be > 0
    std::optional<int> rank_base;       // rrf; 0 or 1
    std::optional<bool> fill_scores;    // not with rrf
    std::optional<std::string> preset;  // another system's formula

    friend bool operator==(const FusionChoice&, const FusionChoice&) = default;
};

/// One step after fusion: `{"name": parameters}`.
struct StageChoice {
    std::string name;
    Object parameters;

    friend bool operator==(const StageChoice&, const StageChoice&) = default;
};

/// What a stage sees of one hit.
struct StageHit {
    std::string_view collection;
    const Chunk& chunk;  // its vector only for stages that want vectors
    double score = 0;
    bool matches = false;  // the filter of a stage that has one
};

struct StageInput {
    std::string_view query;
    std::span<const StageHit> hits;  // best first: all candidates, not only those to be shown
    Timestamp now;
    const CallLimits& limits;
};

/// What a stage does to one hit. Afterwards the hits are put in order again, by score, then id.
struct StageEffect {
    enum class Kind {
        Pass,  // nothing worth a line in the receipt
        Keep,  // the score stays; `value` is the bound that it met
        Multiply,
        Divide,
        Add,
        Replace,
        Drop,  // the hit is left out
    };

    Kind kind = Kind::Pass;
    double value = 0;
    Object detail;       // numbers behind the value, for the receipt
    bool below = false;  // ranks after all hits without this mark, whatever the scores
};

/// A step of one's own after fusion, or a reranker: one effect for each hit, in order. It may be
/// called from several threads at once, and more than once for one request, with hits found deeper.
/// A failure, an exception, a wrong number of effects or a score that is no number: the stage is
/// skipped, and the answer says so.
using StageFunction = std::function<Result<std::vector<StageEffect>>(const StageInput& input,
                                                                     const Object& parameters)>;

/// A stage that requests may name. One with the name of a built-in stage takes its place.
struct CustomStage {
    std::string name;
    StageFunction run;
    bool wants_vectors = false;
    /// Checks the parameters before anything is searched; its error fails the request.
    std::function<Result<>(const Object& parameters)> check;
};

/// Named request defaults: data, not code. `depth` candidates per leg, at least `depth_per_hit` for
/// each hit asked for.
struct Profile {
    std::string name;
    std::vector<std::string> collections;
    std::string namespace_{kDefaultNamespace};
    Strategy strategy = Strategy::Hybrid;
    FusionMethod method = FusionMethod::Rrf;
    double k = 60;
    int rank_base = 1;
    Across across = Across::Ranks;
    double dense_weight = 0.7;
    std::optional<double> sparse_weight;  // none: 1 - dense_weight
    std::size_t depth = 50;
    std::size_t depth_per_hit = 0;
    std::size_t top_k = 10;
    std::size_t max_top_k = 0;  // larger requests are cut to it, with a warning; 0: no such limit
    std::size_t max_hops = 3;
    std::size_t hop_top_k = 5;
    std::vector<StageChoice> stages;  // for requests that name none

    friend bool operator==(const Profile&, const Profile&) = default;
};

/// A question. Every field is a key of the JSON request of the same name; fields left empty take
/// the profile's default. The principal is not part of it: the door knows who asks.
struct Request {
    std::string query;
    std::vector<float> query_embedding;    // wins over the embedder
    std::vector<std::string> collections;  // empty: the profile's, else "default"
    std::optional<std::string> namespace_;
    std::string profile;                 // whose defaults; empty: the database's default profile
    std::optional<Profile> own_profile;  // in JSON "profile" as an object; wins over the name
    std::optional<Strategy> strategy;

    std::optional<std::size_t> top_k;
    std::string cursor;  // from an earlier answer: its next page
    FusionChoice fusion;
    /// Scores: one embedder and one way to count words in all collections, else InvalidArgument;
    /// without a method of its own, legs are fused by weighted_sum where the profile has rrf.
    std::optional<Across> across;
    std::optional<double> dense_weight;                   // dense a, sparse 1 - a
    std::vector<std::pair<std::string, double>> weights;  // by source
    std::optional<std::size_t> dense_top_k;               // depth of the dense leg
    std::optional<std::size_t> sparse_top_k;
    std::optional<std::size_t> max_hops;
    std::optional<std::size_t> hop_top_k;
    std::optional<double> score_threshold;  // inclusive, on the fused score

    std::optional<Filter> filter;
    std::optional<std::vector<std::string>> document_ids;  // an empty list matches nothing

    bool expand_query = false;
    bool use_hyde = false;
    bool query_syntax = false;
    std::vector<StageChoice> stages;
    std::size_t expand_neighbors = 0;
    bool exact = false;    // dense by exact scan
    bool explain = false;  // says where each leg has every hit, which takes time
    std::optional<std::int64_t> deadline_ms;

    friend bool operator==(const Request&, const Request&) = default;
};

/// "default" and "service". Applications bring others; see applications.hpp.
const std::vector<Profile>& builtin_profiles();

/// Where a request searches: by its own words, by its profile's, or, if it has a cursor, where the
/// first page did.
struct SearchTarget {
    Profile profile;
    std::vector<std::string> collections;
    std::string namespace_;
};

}  // namespace braid
