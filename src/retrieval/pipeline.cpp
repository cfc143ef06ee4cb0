#include "braid/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "braid/core/clock.hpp"
#include "braid/retrieval/effects.hpp"

namespace braid {
namespace {

using Clock = std::chrono::steady_clock;

/// Hits on their way through stages that look at hits.
class HitList {
public:
    HitList(const Request& request, std::vector<Hit> hits, const CallLimits& limits)
        : request_(request), limits_(limits) {
        placed_.reserve(hits.size());
        for (Hit& hit : hits) placed_.push_back({std::move(hit)});
    }

    Result<> run(const CustomStage& stage, const Object& parameters) {
        if (stage.wants_vectors) {
            return fail(ErrorCode::Unsupported, "it needs vectors, which answers do not carry");
        }
        if (limits_.expired())
            return fail(ErrorCode::DeadlineExceeded, "the deadline left no time for it");
        std::vector<StageHit> seen;
        std::vector<retrieval::ScoredHit> scored;
        for (const Placed& place : placed_) {
            seen.push_back({place.hit.collection, place.hit.chunk, place.hit.score, false,
                            &place.hit.receipt});
            scored.push_back({place.hit.chunk.chunk_id, place.hit.receipt.score});
        }
        const StageInput input{request_.query, seen, core::system_now(), limits_};
        BRAID_TRY(auto effects,
                  retrieval::sound_effects([&] { return stage.run(input, parameters); }, scored));
        carry_out(stage.name, std::move(effects));
        return {};
    }

    std::vector<Hit> take() && {
        std::vector<Hit> hits;
        hits.reserve(placed_.size());
        for (Placed& place : placed_) hits.push_back(std::move(place.hit));
        return hits;
    }

private:
    struct Placed {
        Hit hit;
        std::size_t tier = 0;  // stages put the higher ones below
    };

    void carry_out(const std::string& name, std::vector<StageEffect> effects) {
        std::vector<Placed> kept;
        kept.reserve(placed_.size());
        for (std::size_t i = 0; i < placed_.size(); ++i) {
            if (effects[i].kind == StageEffect::Kind::Drop) continue;
            Placed& place = kept.emplace_back(std::move(placed_[i]));
            if (effects[i].below) ++place.tier;
            retrieval::apply_effect(name, std::move(effects[i]), place.hit.receipt);
            place.hit.score = place.hit.receipt.score;
        }
        std::ranges::stable_sort(kept, [](const Placed& a, const Placed& b) {
            if (a.tier != b.tier) return a.tier < b.tier;
            if (a.hit.score != b.hit.score) return a.hit.score > b.hit.score;
            if (a.hit.chunk.chunk_id != b.hit.chunk.chunk_id) {
                return a.hit.chunk.chunk_id < b.hit.chunk.chunk_id;
            }
            return a.hit.collection < b.hit.collection;
        });
        placed_ = std::move(kept);
    }

    const Request& request_;
    const CallLimits& limits_;
    std::vector<Placed> placed_;
};

}  // namespace

Pipeline& Pipeline::add_stage(AnswerStage stage) {
    stages_.emplace_back(std::move(stage));
    return *this;
}

Pipeline& Pipeline::add_stage(CustomStage stage, Object parameters) {
    stages_.emplace_back(HitStage{std::move(stage), std::move(parameters)});
    return *this;
}

Result<> Pipeline::check() const {
    for (const auto& step : stages_) {
        const HitStage* const hits = std::get_if<HitStage>(&step);
        if (hits != nullptr && hits->stage.check) BRAID_CHECK(hits->stage.check(hits->parameters));
    }
    return {};
}

Result<Answer> Pipeline::apply(const Request& request, Answer answer) const {
    BRAID_CHECK(check());
    CallLimits limits;
    if (request.deadline_ms) {
        limits.deadline = Clock::now() + std::chrono::milliseconds(*request.deadline_ms);
    }
    const std::size_t first = answer.hits.empty() ? 1 : answer.hits.front().rank;
    for (const auto& step : stages_) {
        if (const AnswerStage* const whole = std::get_if<AnswerStage>(&step)) {
            BRAID_TRY(answer, (*whole)(std::move(answer)));
            continue;
        }
        const HitStage& hit_stage = std::get<HitStage>(step);
        HitList hits(request, std::move(answer.hits), limits);
        if (auto done = hits.run(hit_stage.stage, hit_stage.parameters); !done) {
            answer.complete = false;
            answer.warnings.push_back("the stage \"" + hit_stage.stage.name +
                                      "\" failed and was skipped: " + done.error().message);
        }
        answer.hits = std::move(hits).take();
    }
    for (std::size_t i = 0; i < answer.hits.size(); ++i) answer.hits[i].rank = first + i;
    return answer;
}

}  // namespace braid
