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

struct Receipt;

/// How ranked lists are fused. Unset members come from the profile.
struct FusionChoice {
    std::optional<FusionMethod> method{};
    std::optional<double> k{};            // rrf; k + rank must be > 0
    std::optional<int> rank_base{};       // rrf; 0 or 1
    std::optional<bool> fill_scores{};    // not with rrf
    std::optional<std::string> preset{};  // another system's formula

    friend bool operator==(const FusionChoice&, const FusionChoice&) = default;
};

/// One step after fusion: `{"name": parameters}`.
struct StageChoice {
    std::string name{};
    Object parameters{};

    friend bool operator==(const StageChoice&, const StageChoice&) = default;
};

/// What a stage sees of one hit.
struct StageHit {
    std::string_view collection;
    const Chunk& chunk;  // its vector only for stages that want vectors
    double score = 0;
    bool matches = false;              // passes the stage's filter, if it has one
    const Receipt* receipt = nullptr;  // how the score came about so far
};

struct StageInput {
    std::string_view query;
    std::span<const StageHit> hits;  // best first: all candidates, not only those to show
    Timestamp now;
    const CallLimits& limits;
};

/// What a stage does to one hit. Afterwards the hits are sorted again, by score, then id.
struct StageEffect {
    enum class Kind {
        Pass,  // nothing worth a line in the receipt
        Keep,  // the score stays; `value` is the bound it met
        Multiply,
        Divide,
        Add,
        Replace,
        Drop,
    };

    Kind kind = Kind::Pass;
    double value = 0;
    Object detail;       // numbers behind the value, for the receipt
    bool below = false;  // ranks after all hits without this mark, whatever the scores
};

/// Your own step after fusion, or a reranker: one effect per hit, in order. It may be called from
/// several threads at once, and more than once per request, with hits found deeper. If it fails,
/// throws, or returns the wrong number of effects or a score that is not a number, it is skipped,
/// and the answer says so.
using StageFunction = std::function<Result<std::vector<StageEffect>>(const StageInput& input,
                                                                     const Object& parameters)>;

/// A stage that requests can name. It replaces a built-in stage of the same name.
struct CustomStage {
    std::string name{};
    StageFunction run{};
    bool wants_vectors = false;
    /// Checks the parameters before the search; its error fails the request.
    std::function<Result<>(const Object& parameters)> check;
};

/// Named request defaults: data, not code. `depth` candidates per leg, at least `depth_per_hit` for
/// each hit requested.
struct Profile {
    std::string name{};
    std::vector<std::string> collections{};
    std::string namespace_{kDefaultNamespace};
    Strategy strategy = Strategy::Hybrid;
    FusionMethod method = FusionMethod::Rrf;
    double k = 60;
    int rank_base = 1;
    Across across = Across::Ranks;
    double dense_weight = 0.7;
    std::optional<double> sparse_weight{};  // none: 1 - dense_weight
    std::size_t depth = 50;
    std::size_t depth_per_hit = 0;
    std::size_t top_k = 10;
    std::size_t max_top_k = 0;  // larger requests are cut to it, with a warning; 0: no limit
    std::size_t max_hops = 3;
    std::size_t hop_top_k = 5;
    std::vector<StageChoice> stages{};  // for requests that name none
    Bm25Choice bm25{};

    friend bool operator==(const Profile&, const Profile&) = default;
};

/// A question. Every field is a key of the JSON request; empty fields take the profile's default.
/// Who asks is not part of it: every call takes a Principal.
struct Request {
    std::string query{};
    std::vector<float> query_embedding{};    // used instead of the embedder
    std::vector<std::string> collections{};  // empty: the profile's, else "default"
    std::optional<std::string> namespace_{};
    std::string profile{};                 // whose defaults; empty: the database's default profile
    std::optional<Profile> own_profile{};  // in JSON "profile" as an object; overrides the name
    std::optional<Strategy> strategy{};

    std::optional<std::size_t> top_k{};
    std::string cursor{};  // from an earlier answer: its next page
    FusionChoice fusion{};
    /// Scores: all collections must share an embedder and text analysis, else InvalidArgument;
    /// unless a method is given, weighted_sum replaces the profile's rrf.
    std::optional<Across> across{};
    std::optional<double> dense_weight{};                   // dense a, sparse 1 - a
    std::vector<std::pair<std::string, double>> weights{};  // by source
    Bm25Choice bm25{};                                      // of the sparse leg
    std::optional<std::size_t> dense_top_k{};               // depth of the dense leg
    std::optional<std::size_t> sparse_top_k{};
    std::optional<std::size_t> max_hops{};
    std::optional<std::size_t> hop_top_k{};
    std::optional<double> score_threshold{};  // inclusive, on the fused score

    std::optional<Filter> filter{};
    std::optional<std::vector<std::string>> document_ids{};  // an empty list matches nothing

    bool expand_query = false;
    bool use_hyde = false;
    bool query_syntax = false;
    /// A word that no chunk contains is also searched as similar words, at a lower weight, and the
    /// answer says so. In JSON "typos": "auto", or "off" for false.
    bool typos = true;
    /// Near-identical passages of one document are shown as one, the best; its receipt names the
    /// others. True shows them all.
    bool keep_duplicates = false;
    std::vector<StageChoice> stages{};
    std::size_t expand_neighbors = 0;
    bool exact = false;  // dense by exact scan
    /// Dense, not exact: the average share of the exact hits to find; above 0, at most 1. None:
    /// kUsualRecall.
    std::optional<double> recall{};
    bool highlight = true;  // marks the query's words in each hit: Hit::matches
    bool explain = false;   // adds every hit's rank in each leg; slower
    std::optional<std::int64_t> deadline_ms{};

    friend bool operator==(const Request&, const Request&) = default;
};

/// "default" and "service". Applications add others; see applications.hpp.
const std::vector<Profile>& builtin_profiles();

/// The collections a request searches: its own, else its profile's; with a cursor, those of the
/// first page.
struct SearchTarget {
    Profile profile{};
    std::vector<std::string> collections{};
    std::string namespace_{};
};

}  // namespace braid
