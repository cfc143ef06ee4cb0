#include "braid/retrieval/stages.hpp"

#include <algorithm>
#include <utility>

#include "braid/core/charge.hpp"
#include "braid/retrieval/effects.hpp"
#include "braid/retrieval/hydrate.hpp"

namespace braid::retrieval {
namespace {

/// Which candidates the stage's filter matches, collection by collection.
Result<std::vector<bool>> matching(const Work& work, const Filter& filter,
                                   std::span<const Candidate> band) {
    std::vector<bool> matches(band.size(), false);
    const ReaderPtr snapshot = work.snapshot->with(core::apart(work.stage_limits));
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
        BRAID_TRY(const auto chunks, snapshot->fetch(scope, ids, false));
        for (std::size_t i = 0; i < places.size(); ++i) matches[places[i]] = chunks[i].has_value();
    }
    return matches;
}

/// Carries out what was found to be sound.
void carry_out(const std::string& name, std::vector<StageEffect> effects,
               std::vector<Candidate>& band) {
    std::vector<Candidate> kept;
    kept.reserve(band.size());
    for (std::size_t i = 0; i < band.size(); ++i) {
        StageEffect& effect = effects[i];
        if (effect.kind == StageEffect::Kind::Drop) continue;
        Candidate& candidate = kept.emplace_back(std::move(band[i]));
        if (effect.below) ++candidate.tier;
        apply_effect(name, std::move(effect), candidate.receipt);
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

Result<> Stage::prepare(Work& /*work*/) {
    return {};
}

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
    std::ranges::for_each(band, complete_receipt);
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
        return fail(ErrorCode::DeadlineExceeded, "the deadline left no time for it");
    }
    std::vector<bool> matches(band.size(), false);
    if (const Filter* const filter = step.stage->filter()) {
        BRAID_TRY(matches, matching(work, *filter, band));
    }
    std::vector<StageHit> hits;
    std::vector<ScoredHit> scored;
    hits.reserve(band.size());
    scored.reserve(band.size());
    for (std::size_t i = 0; i < band.size(); ++i) {
        const auto& chunk = band[i].chunk;
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access): those without a chunk are gone
        hits.push_back({work.plan.collections[band[i].collection].name, *chunk,
                        band[i].receipt.score, matches[i], &band[i].receipt});
        scored.push_back({band[i].chunk_id, band[i].receipt.score});
    }
    const StageInput input{work.request.query, hits, now, work.stage_limits};
    BRAID_CHECK(step.stage->prepare(work));
    BRAID_TRY(auto effects, sound_effects([&] { return step.stage->run(input); }, scored));
    carry_out(step.name, std::move(effects), band);
    return {};
}

}  // namespace braid::retrieval
