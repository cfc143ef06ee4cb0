#include "braid/retrieval/stages.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <utility>

#include "braid/core/charge.hpp"
#include "braid/retrieval/hydrate.hpp"

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

/// Which candidates the stage's filter matches, collection by collection.
Result<std::vector<bool>> matching(const Work& work, const Filter& filter,
                                   std::span<const Candidate> band) {
    std::vector<bool> matches(band.size(), false);
    for (std::size_t c = 0; c < work.plan.collections.size(); ++c) {
        std::vector<std::string> ids;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < band.size(); ++i) {
            if (band[i].collection != c) continue;
            ids.push_back(band[i].chunk_id);
            places.push_back(i);
        }
        if (ids.empty()) continue;
        ReadScope scope = work.scope_of(work.plan.collections[c].name);
        scope.filter = filter;
        BRAID_TRY(const auto chunks,
                  work.backend.fetch(work.snapshot, scope, ids, false, core::apart(work.copying)));
        for (std::size_t i = 0; i < places.size(); ++i) matches[places[i]] = chunks[i].has_value();
    }
    return matches;
}

Result<std::vector<StageEffect>> effects_of(Stage& stage, const StageInput& input) {
    try {
        return stage.run(input);
    } catch (const std::exception& error) {  // a callable of the user's
        return fail(ErrorCode::Unavailable, error.what());
    }
}

Result<> check(std::span<const StageEffect> effects, std::span<const Candidate> band) {
    if (effects.size() != band.size()) {
        return invalid_argument("it answered for " + std::to_string(effects.size()) + " of " +
                                std::to_string(band.size()) + " hits");
    }
    for (std::size_t i = 0; i < effects.size(); ++i) {
        if (effects[i].kind == Kind::Drop) continue;
        if (!std::isfinite(effects[i].value) ||
            !std::isfinite(applied(effects[i], band[i].receipt.score))) {
            return invalid_argument("the score it gives \"" + band[i].chunk_id +
                                    "\" is not a finite number");
        }
    }
    return {};
}

/// Carries out what was found to be sound.
void carry_out(const std::string& name, std::vector<StageEffect> effects,
               std::vector<Candidate>& band) {
    std::vector<Candidate> kept;
    kept.reserve(band.size());
    for (std::size_t i = 0; i < band.size(); ++i) {
        StageEffect& effect = effects[i];
        if (effect.kind == Kind::Drop) continue;
        Candidate& candidate = kept.emplace_back(std::move(band[i]));
        if (effect.below) ++candidate.tier;
        if (effect.kind == Kind::Pass) continue;
        Receipt& receipt = candidate.receipt;
        receipt.score = applied(effect, receipt.score);
        receipt.stages.push_back({name, std::string(operation_of(effect.kind)), effect.value,
                                  receipt.score, std::move(effect.detail)});
    }
    std::ranges::sort(kept, [](const Candidate& a, const Candidate& b) {
        if (a.tier != b.tier) return a.tier < b.tier;
        if (a.receipt.score != b.receipt.score) return a.receipt.score > b.receipt.score;
        if (a.chunk_id != b.chunk_id) return a.chunk_id < b.chunk_id;
        return a.collection < b.collection;
    });
    band = std::move(kept);
}

}  // namespace

std::optional<Filter> Stage::leg_filter(Timestamp /*now*/) const {
    return std::nullopt;
}

Result<StagePipeline> StagePipeline::create(std::span<const StageChoice> choices,
                                            std::span<const CustomStage> custom) {
    StagePipeline pipeline;
    pipeline.steps_.reserve(choices.size());
    for (const StageChoice& choice : choices) {
        BRAID_TRY(auto stage, make_stage(choice, custom));
        pipeline.steps_.push_back({choice.name, std::move(stage), false});
    }
    return pipeline;
}

std::vector<Filter> StagePipeline::leg_filters(Timestamp now) const {
    std::vector<Filter> filters;
    for (const Step& step : steps_) {
        if (auto filter = step.stage->leg_filter(now)) filters.push_back(*std::move(filter));
    }
    return filters;
}

bool StagePipeline::ended() const {
    return std::ranges::any_of(
        steps_, [](const Step& step) { return !step.failed && step.stage->ended(); });
}

Result<> StagePipeline::apply(Work& work, Timestamp now, std::vector<Candidate>& band) {
    if (steps_.empty() || band.empty()) return {};
    const bool vectors =
        std::ranges::any_of(steps_, [](const Step& step) { return step.stage->wants_vectors(); });
    BRAID_CHECK(fetch_chunks(work, band, vectors, work.copying));
    std::erase_if(band, [](const Candidate& candidate) { return !candidate.chunk; });
    for (Step& step : steps_) {
        if (step.failed || band.empty()) continue;
        auto done = run(step, work, now, band);
        if (done) continue;
        step.failed = true;
        work.fell_short("stage_failed", "the stage \"" + step.name +
                                            "\" failed and was skipped: " + done.error().message);
    }
    return {};
}

Result<> StagePipeline::run(Step& step, Work& work, Timestamp now, std::vector<Candidate>& band) {
    if (work.limits.stopped()) return fail(ErrorCode::Cancelled, "the request was cancelled");
    if (work.stage_limits.expired()) {
        return fail(ErrorCode::DeadlineExceeded, "no time was left");
    }
    std::vector<bool> matches(band.size(), false);
    if (const Filter* const filter = step.stage->filter()) {
        BRAID_TRY(matches, matching(work, *filter, band));
    }
    std::vector<StageHit> hits;
    hits.reserve(band.size());
    for (std::size_t i = 0; i < band.size(); ++i) {
        const auto& chunk = band[i].chunk;
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access): those without a chunk are gone
        hits.push_back({work.plan.collections[band[i].collection].name, *chunk,
                        band[i].receipt.score, matches[i]});
    }
    BRAID_TRY(auto effects,
              effects_of(*step.stage, {work.request.query, hits, now, work.stage_limits}));
    BRAID_CHECK(check(effects, band));
    carry_out(step.name, std::move(effects), band);
    return {};
}

}  // namespace braid::retrieval
