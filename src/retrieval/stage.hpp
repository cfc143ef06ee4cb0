#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::retrieval {

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
};

}  // namespace braid::retrieval
