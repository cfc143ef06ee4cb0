#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/retrieval/builtin_stages.hpp"
#include "braid/retrieval/copies.hpp"

namespace braid::retrieval {
namespace {

using Kind = StageEffect::Kind;

constexpr double kHuge = std::numeric_limits<double>::max();

/// Cosine, in one fixed order; 0 where one of the two has no vector or no length.
double similarity(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.empty() || a.size() != b.size()) return 0;
    double dot = 0;
    double a_squares = 0;
    double b_squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double x = a[i];
        const double y = b[i];
        dot += x * y;
        a_squares += x * x;
        b_squares += y * y;
    }
    const double lengths = std::sqrt(a_squares) * std::sqrt(b_squares);
    return lengths > 0 ? dot / lengths : 0;
}

/// Maximal marginal relevance: always next the hit whose lambda * relevance - (1 - lambda) *
/// similarity to those before it is largest (Carbonell and Goldstein, 1998). Relevance is the score
/// brought to 0 to 1; similarities below 0 count as 0. The values never grow from hit to hit, so
/// that they can stand in for the scores.
class Mmr final : public Stage {
public:
    Mmr(double lambda, std::size_t most) : lambda_(lambda), most_(most) {}

    Result<std::vector<StageEffect>> run(const StageInput& input) override {
        const auto has_vector = [](const StageHit& hit) { return !hit.chunk.vector.empty(); };
        if (std::ranges::none_of(input.hits, has_vector)) {
            return invalid_argument("the hits have no vectors to compare");
        }
        std::vector<StageEffect> effects(input.hits.size());
        for (std::size_t i = most_; i < effects.size(); ++i) effects[i].below = true;
        const auto hits = input.hits.first(std::min(input.hits.size(), most_));
        const std::vector<double> relevance = relevance_of(hits);
        std::vector<double> nearest(hits.size(), 0);
        std::vector<bool> taken(hits.size(), false);
        for (std::size_t step = 0; step < hits.size(); ++step) {
            if (input.limits.stopped() || input.limits.expired()) {
                return fail(ErrorCode::DeadlineExceeded, "the deadline left no time for it");
            }
            std::size_t best = hits.size();  // none yet
            double best_value = 0;
            for (std::size_t i = 0; i < hits.size(); ++i) {
                if (taken[i]) continue;
                const double value = lambda_ * relevance[i] - (1 - lambda_) * nearest[i];
                if (best < hits.size() &&
                    (value < best_value ||
                     (value == best_value && !comes_before(hits[i], hits[best])))) {
                    continue;
                }
                best = i;
                best_value = value;
            }
            taken[best] = true;
            effects[best] = {Kind::Replace,
                             best_value,
                             {{"lambda", lambda_},
                              {"relevance", relevance[best]},
                              {"similarity", nearest[best]}},
                             false};
            for (std::size_t i = 0; i < hits.size(); ++i) {
                if (taken[i]) continue;
                nearest[i] =
                    std::max(nearest[i], similarity(hits[i].chunk.vector, hits[best].chunk.vector));
            }
        }
        return effects;
    }

    bool wants_vectors() const override { return true; }

private:
    static bool comes_before(const StageHit& a, const StageHit& b) {
        return a.chunk.chunk_id < b.chunk.chunk_id;
    }

    static std::vector<double> relevance_of(std::span<const StageHit> hits) {
        const auto [low, high] = std::ranges::minmax_element(hits, {}, &StageHit::score);
        const double range = high->score - low->score;
        std::vector<double> relevance;
        relevance.reserve(hits.size());
        for (const StageHit& hit : hits) {
            relevance.push_back(range > 0 ? (hit.score - low->score) / range : 1.0);
        }
        return relevance;
    }

    double lambda_;
    std::size_t most_;
};

/// Keeps what reaches a bound; once something did not, what lies deeper does not either.
class Cut : public Stage {
public:
    Result<std::vector<StageEffect>> run(const StageInput& input) override {
        const double bound = bound_of(input.hits);
        std::vector<StageEffect> effects(input.hits.size());
        for (std::size_t i = 0; i < effects.size(); ++i) {
            const bool kept = input.hits[i].score >= bound;
            effects[i] = {kept ? Kind::Keep : Kind::Drop, bound, {}, false};
            cut_ = cut_ || !kept;
        }
        return effects;
    }
    bool ended() const override { return cut_; }

private:
    virtual double bound_of(std::span<const StageHit> hits) = 0;

    bool cut_ = false;
};

class MinScore final : public Cut {
public:
    explicit MinScore(double bound) : bound_(bound) {}

private:
    double bound_of(std::span<const StageHit> /*hits*/) override { return bound_; }

    double bound_;
};

/// A fraction of the best score of all; without effect if that is not above 0.
class RelativeScore final : public Cut {
public:
    explicit RelativeScore(double fraction) : fraction_(fraction) {}

private:
    double bound_of(std::span<const StageHit> hits) override {
        if (bound_) return *bound_;
        const double best = std::ranges::max_element(hits, {}, &StageHit::score)->score;
        const double bound = best > 0 ? fraction_ * best : -kHuge;
        bound_ = bound;
        return bound;
    }

    double fraction_;
    std::optional<double> bound_;
};

/// Cuts where the scores of two neighbours lie farthest apart, the first of equals; scores that are
/// all equal are not cut. Looks no deeper than the legs' depth.
class LargestGap final : public Cut {
public:
    explicit LargestGap(std::size_t min_hits) : min_hits_(min_hits) {}

    bool ended() const override { return seen_; }

private:
    double bound_of(std::span<const StageHit> hits) override {
        seen_ = true;
        double bound = -kHuge;
        double widest = 0;
        for (std::size_t i = min_hits_; i < hits.size(); ++i) {
            const double gap = hits[i - 1].score - hits[i].score;
            if (gap > widest) {
                widest = gap;
                bound = hits[i - 1].score;
            }
        }
        return bound;
    }

    std::size_t min_hits_;
    bool seen_ = false;
};

/// Of hits with equal content, or nearly so, only the best stays; its receipt names the others.
class CollapseDuplicates final : public Stage {
public:
    CollapseDuplicates(double similarity, bool within_document)
        : similarity_(similarity), within_document_(within_document) {}

    Result<std::vector<StageEffect>> run(const StageInput& input) override {
        std::vector<StageEffect> effects(input.hits.size());
        const std::size_t earlier = shown_.size();
        std::vector<std::size_t> places;  // in this band, of those shown since
        for (std::size_t i = 0; i < effects.size(); ++i) {
            if (input.limits.stopped() || input.limits.expired()) {
                return fail(ErrorCode::DeadlineExceeded, "the deadline left no time for it");
            }
            const Chunk& chunk = input.hits[i].chunk;
            Shown one = fingerprint(chunk);
            const auto like = std::ranges::find_if(shown_, [&](const Shown& other) {
                return one.document == other.document && alike(one.print, other.print, similarity_);
            });
            if (like == shown_.end()) {
                shown_.push_back(std::move(one));
                places.push_back(i);
                continue;
            }
            effects[i].kind = Kind::Drop;
            const auto kept = static_cast<std::size_t>(like - shown_.begin());
            if (kept < earlier) continue;  // the one that stays is in an earlier band
            const std::size_t best = places[kept - earlier];
            name_duplicate(effects[best], input.hits[best], chunk.chunk_id);
        }
        return effects;
    }

private:
    struct Shown {
        std::string document;  // only if copies are looked for within one
        TextPrint print;
    };

    Shown fingerprint(const Chunk& chunk) const {
        Shown one;
        if (within_document_) {
            one.document = chunk.document_id.empty() ? chunk.chunk_id : chunk.document_id;
        }
        one.print = print_of(chunk.content, similarity_ < 1);
        return one;
    }

    static void name_duplicate(StageEffect& effect, const StageHit& best,
                               const std::string& chunk_id) {
        if (effect.kind == Kind::Pass) {
            effect = {Kind::Keep, best.score, {{"duplicates", Array{}}}, false};
        }
        effect.detail.find("duplicates")->as_array().emplace_back(chunk_id);
    }

    double similarity_;
    bool within_document_;
    std::vector<Shown> shown_;  // in all bands so far
};

}  // namespace

Result<std::unique_ptr<Stage>> make_collapse_duplicates(Parameters& parameters) {
    BRAID_TRY(const double similarity, parameters.number("similarity", 1, 0.5, 1));
    bool within_document = false;
    if (const Value* const within = parameters.any("within");
        within != nullptr && !within->is_null()) {
        if (*within != Value("all") && *within != Value("document")) {
            return parameters.complaint("within", "\"all\" or \"document\"");
        }
        within_document = *within == Value("document");
    }
    return std::make_unique<CollapseDuplicates>(similarity, within_document);
}

Result<std::unique_ptr<Stage>> make_mmr(Parameters& parameters) {
    BRAID_TRY(const double lambda, parameters.number("lambda", 0.5, 0, 1));
    BRAID_TRY(const double most, parameters.number("candidates", 100, 1, 1000));
    return std::make_unique<Mmr>(lambda, static_cast<std::size_t>(most));
}

Result<std::unique_ptr<Stage>> make_min_score(Parameters& parameters) {
    if (parameters.any("value") == nullptr) return parameters.complaint("value", "a number");
    BRAID_TRY(const double bound, parameters.number("value", 0, -kHuge, kHuge));
    return std::make_unique<MinScore>(bound);
}

Result<std::unique_ptr<Stage>> make_relative_score(Parameters& parameters) {
    BRAID_TRY(const double fraction, parameters.number("fraction", 0.5, 0, 1));
    return std::make_unique<RelativeScore>(fraction);
}

Result<std::unique_ptr<Stage>> make_largest_gap(Parameters& parameters) {
    BRAID_TRY(const double min_hits, parameters.number("min_hits", 1, 1, 10'000));
    return std::make_unique<LargestGap>(static_cast<std::size_t>(min_hits));
}

}  // namespace braid::retrieval
