#include "braid/retrieval/effects.hpp"

#include <cmath>
#include <exception>
#include <utility>

namespace braid::retrieval {
namespace {

using Kind = StageEffect::Kind;

std::string_view operation_of(Kind kind) {
    switch (kind) {
        case Kind::Keep:
            return "keep";
        case Kind::Multiply:
            return "multiply";
        case Kind::Divide:
            return "divide";
        case Kind::Add:
            return "add";
        default:
            return "replace";
    }
}

double applied(const StageEffect& effect, double score) {
    switch (effect.kind) {
        case Kind::Multiply:
            return score * effect.value;
        case Kind::Divide:
            return score / effect.value;
        case Kind::Add:
            return score + effect.value;
        case Kind::Replace:
            return effect.value;
        default:
            return score;
    }
}

Result<> check(std::span<const StageEffect> effects, std::span<const ScoredHit> hits) {
    if (effects.size() != hits.size()) {
        return invalid_argument("it answered for " + std::to_string(effects.size()) + " of " +
                                std::to_string(hits.size()) + " hits");
    }
    for (std::size_t i = 0; i < effects.size(); ++i) {
        if (effects[i].kind == Kind::Drop) continue;
        if (!std::isfinite(effects[i].value) ||
            !std::isfinite(applied(effects[i], hits[i].score))) {
            return invalid_argument("the score it gives \"" + std::string(hits[i].chunk_id) +
                                    "\" is not a finite number");
        }
    }
    return {};
}

}  // namespace

Result<std::vector<StageEffect>> sound_effects(
    const std::function<Result<std::vector<StageEffect>>()>& run, std::span<const ScoredHit> hits) {
    try {
        BRAID_TRY(auto effects, run());
        BRAID_CHECK(check(effects, hits));
        return effects;
    } catch (const std::exception& error) {  // a callable of the user's
        return fail(ErrorCode::Unavailable, error.what());
    }
}

void apply_effect(const std::string& stage, StageEffect effect, Receipt& receipt) {
    if (effect.kind == Kind::Pass) return;
    receipt.score = applied(effect, receipt.score);
    receipt.stages.push_back({stage, std::string(operation_of(effect.kind)), effect.value,
                              receipt.score, std::move(effect.detail)});
}

}  // namespace braid::retrieval
