#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/answer.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"

namespace braid::retrieval {

/// A hit as a stage's effects find it.
struct ScoredHit {
    std::string_view chunk_id;
    double score = 0;
};

/// What a stage answered, if it can be carried out: one effect for each hit, and scores that are
/// numbers. What a callable throws is an error.
Result<std::vector<StageEffect>> sound_effects(
    const std::function<Result<std::vector<StageEffect>>()>& run, std::span<const ScoredHit> hits);

/// Carries out an effect that leaves the hit in: its score, and a line of its receipt.
void apply_effect(const std::string& stage, StageEffect effect, Receipt& receipt);

}  // namespace braid::retrieval
