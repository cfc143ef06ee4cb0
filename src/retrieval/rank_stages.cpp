#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "braid/rank/features.hpp"
#include "braid/rank/model.hpp"
#include "braid/retrieval/builtin_stages.hpp"

namespace braid::retrieval {
namespace {

using EffectKind = StageEffect::Kind;

constexpr double kUsualCandidates = 100;
constexpr double kMaxCandidates = 1000;

/// Idf as BM25's, from what the principal may see; 1 where nobody knows.
double idf(const TextStatistics* statistics, const std::string& term) {
    if (statistics == nullptr) return 1;
    const auto found = statistics->frequencies.find(term);
    const auto chunks = static_cast<double>(statistics->chunks);
    const double with =
        found == statistics->frequencies.end() ? 0.0 : static_cast<double>(found->second);
    return std::log1p((chunks - std::min(with, chunks) + 0.5) / (with + 0.5));
}

/// "Mercury (planet)" is spoken of as "Mercury".
std::string without_brackets(std::string_view title) {
    std::string out;
    int depth = 0;
    for (const char c : title) {
        if (c == '(') ++depth;
        if (depth == 0) out += c;
        if (c == ')' && depth > 0) --depth;
    }
    return out;
}

/// Turns candidates into the vectors that a learned ranking sees.
class Features {
public:
    explicit Features(std::size_t most) : most_(most) {}

    Result<> prepare(const Work& work) {
        snapshot_ = work.snapshot->with(work.stage_limits);
        query_ = {};
        statistics_ = {};
        if (work.plan.collections.empty()) return {};
        const std::string text = work.plain_query.value_or(work.request.query);
        // Several collections: the first one's analysis of the query, the statistics of all.
        BRAID_TRY(query_.words, snapshot_->analyze(work.plan.collections.front().name, text));
        bool known = false;
        for (const CollectionPlan& collection : work.plan.collections) {
            Leg leg;
            leg.kind = LegKind::Sparse;
            leg.scope = work.scope_of(collection.name);
            leg.phrasings = {query_.words};
            const auto found = snapshot_->text_statistics(leg);
            if (!found) continue;  // a backend that keeps them to itself
            statistics_.add(*found);
            known = true;
        }
        if (statistics_.chunks > 0) {
            query_.mean_length = statistics_.total_length / static_cast<double>(statistics_.chunks);
        }
        for (const std::string& word : query_.words) {
            query_.weight.emplace(word, idf(known ? &statistics_ : nullptr, word));
        }
        return {};
    }

    /// Of the first candidates; the others are none.
    Result<std::vector<rank::Vector>> vectors_of(const StageInput& input) const {
        const auto hits = input.hits.first(std::min(most_, input.hits.size()));
        std::vector<rank::Candidate> candidates;
        candidates.reserve(hits.size());
        for (const StageHit& hit : hits) {
            if (input.limits.stopped() || input.limits.expired()) {
                return fail(ErrorCode::DeadlineExceeded, "the deadline left no time for it");
            }
            rank::Candidate& candidate = candidates.emplace_back();
            candidate.receipt = hit.receipt;
            candidate.chunk = &hit.chunk;
            const std::string collection(hit.collection);
            const auto terms = [&](const std::string& text) {
                return snapshot_->analyze(collection, text);
            };
            BRAID_TRY(candidate.content, terms(hit.chunk.content));
            if (hit.chunk.title) {
                BRAID_TRY(candidate.title, terms(*hit.chunk.title));
                const std::string name = without_brackets(*hit.chunk.title);
                if (name == *hit.chunk.title) {
                    candidate.name = candidate.title;
                } else {
                    BRAID_TRY(candidate.name, terms(name));
                }
            }
            if (hit.chunk.section_title) {
                BRAID_TRY(candidate.section, terms(*hit.chunk.section_title));
            }
        }
        return rank::feature_vectors(query_, candidates);
    }

private:
    std::size_t most_;
    ReaderPtr snapshot_;
    rank::QueryTerms query_;
    TextStatistics statistics_;
};

Object named(const rank::Vector& vector) {
    Object out;
    out.reserve(vector.size());
    for (std::size_t i = 0; i < vector.size(); ++i) {
        out.set(rank::features()[i].name, vector[i]);
    }
    return out;
}

/// Writes each hit's vector into its receipt and changes nothing.
class WriteFeatures final : public Stage {
public:
    explicit WriteFeatures(std::size_t most) : features_(most) {}

    Result<> prepare(Work& work) override { return features_.prepare(work); }

    Result<std::vector<StageEffect>> run(const StageInput& input) override {
        BRAID_TRY(const auto vectors, features_.vectors_of(input));
        std::vector<StageEffect> effects(input.hits.size());
        for (std::size_t i = 0; i < vectors.size(); ++i) {
            effects[i] = {EffectKind::Keep,
                          input.hits[i].score,
                          {{"version", rank::kFeatureVersion}, {"features", named(vectors[i])}},
                          false};
        }
        return effects;
    }

private:
    Features features_;
};

/// Ranks the best candidates by a collection's model; the others follow, as they were.
class Rank final : public Stage {
public:
    Rank(std::size_t most, std::string collection)
        : features_(most), collection_(std::move(collection)) {}

    Result<> prepare(Work& work) override {
        BRAID_TRY(model_, find_model(work));
        return features_.prepare(work);
    }

    Result<std::vector<StageEffect>> run(const StageInput& input) override {
        BRAID_TRY(const auto vectors, features_.vectors_of(input));
        const std::vector<double> scores = model_->scores(vectors);
        std::vector<StageEffect> effects(input.hits.size());
        for (std::size_t i = 0; i < vectors.size(); ++i) {
            effects[i] = {EffectKind::Replace, scores[i], explained(vectors[i]), false};
        }
        for (std::size_t i = vectors.size(); i < effects.size(); ++i) effects[i].below = true;
        return effects;
    }

private:
    /// The named collection's, or the first that there is.
    Result<std::shared_ptr<const rank::Model>> find_model(const Work& work) const {
        for (const CollectionPlan& collection : work.plan.collections) {
            if (!collection_.empty() && collection.name != collection_) continue;
            BRAID_TRY(auto model, work.snapshot->ranker(collection.name));
            if (model) return model;
        }
        if (collection_.empty()) {
            return fail(ErrorCode::NotFound,
                        "none of the collections searched has a learned ranking; \"braid rank "
                        "train\" makes one");
        }
        return fail(ErrorCode::NotFound, "collection \"" + collection_ +
                                             "\" has no learned ranking, or is not searched");
    }

    /// What each feature gave; those that gave nothing are left out.
    Object explained(const rank::Vector& vector) const {
        const rank::Contributions parts = model_->contributions(vector);
        Object given;
        for (std::size_t i = 0; i < vector.size(); ++i) {
            if (parts.features[i] != 0) given.set(rank::features()[i].name, parts.features[i]);
        }
        return {{"bias", parts.bias},
                {"contributions", std::move(given)},
                {"prior", parts.prior},
                {"features", named(vector)}};
    }

    Features features_;
    std::string collection_;
    std::shared_ptr<const rank::Model> model_;
};

Result<std::size_t> candidates_of(Parameters& parameters) {
    BRAID_TRY(const double most,
              parameters.number("candidates", kUsualCandidates, 1, kMaxCandidates));
    return static_cast<std::size_t>(most);
}

}  // namespace

Result<std::unique_ptr<Stage>> make_features(Parameters& parameters) {
    BRAID_TRY(const std::size_t most, candidates_of(parameters));
    return std::make_unique<WriteFeatures>(most);
}

Result<std::unique_ptr<Stage>> make_rank(Parameters& parameters) {
    BRAID_TRY(const std::size_t most, candidates_of(parameters));
    std::string collection;
    if (const Value* const named = parameters.any("collection");
        named != nullptr && !named->is_null()) {
        if (!named->is_string()) return parameters.complaint("collection", "a collection's name");
        collection = named->as_string();
    }
    return std::make_unique<Rank>(most, std::move(collection));
}

}  // namespace braid::retrieval
