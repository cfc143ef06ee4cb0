#include "braid/rank/features.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "braid/rank/feature_parts.hpp"

namespace braid::rank {
namespace {

constexpr std::array<Feature, kFeatures> kList{{
    {"fused", 1, false, "the fused score"},
    {"fused_norm", 1, true, "the same, scaled to 0 to 1 over the candidates"},
    {"fused_z", 1, false, "the same in standard deviations from their mean"},
    {"dense_score", 1, false, "the dense leg's raw score; 0 if it has none"},
    {"dense_norm", 1, true, "scaled to 0 to 1 over the candidates that have one; 0 if it has none"},
    {"dense_z", 1, false, "in standard deviations from their mean; the lowest if it has none"},
    {"dense_gap", -1, false, "how far below the best of them; the largest gap if it has none"},
    {"dense_reciprocal_rank", 1, true, "1 / rank in the dense leg; 0 if the leg did not list it"},
    {"sparse_score", 1, false, "the sparse leg's raw score; 0 if it has none"},
    {"sparse_norm", 1, true, "as dense_norm"},
    {"sparse_z", 1, false, "as dense_z"},
    {"sparse_gap", -1, false, "as dense_gap"},
    {"sparse_reciprocal_rank", 1, true, "as dense_reciprocal_rank"},
    {"legs", 1, false, "how many legs listed it"},
    {"agreement", 0, false, "of the query: correlation of both legs' scores (auto); else 0"},
    {"lead", 0, false, "of the query: how far the best stands out by its words (auto); else 0"},
    {"dense_weight", 0, false, "of the query: the weight of the dense leg's score, as a share"},
    {"query_terms", 0, false, "of the query: its distinct terms"},
    {"idf_mass", 0, false, "of the query: the sum of their inverse document frequencies"},
    {"coverage", 1, true, "share of the query's terms that the chunk holds"},
    {"idf_coverage", 1, true, "the same, each term weighted by its inverse document frequency"},
    {"title_coverage", 1, true, "share of that weight in its title or its section's"},
    {"phrase", 1, true, "share of the query's pairs of adjacent terms that are adjacent here"},
    {"early", 0, true, "where the query's first match is: 1 at the start, 0 if there is none"},
    {"length", 0, false, "log(1 + terms of its content)"},
    {"chunk_index", 0, false, "log(1 + its place in the document); 0 if it has none"},
    {"age", 0, false, "log(1 + days older than the newest candidate); -1 if it has no date"},
    {"content_score", 1, true, "BM25 of its content (k1 0.6, b 0.4), as a share of the maximum"},
    {"title_share", 1, true, "share of its title's terms that are in the query"},
    {"opening", 1, true, "share of the query's weight in its first 30 terms"},
    {"window", 1, true, "the largest share of that weight within 16 terms"},
    {"rest", 1, true, "share that it adds of the query's weight that the best candidate lacks"},
    {"asked", 1, true, "1 if the query names its title"},
    {"named", 1, true, "fused_norm of the best candidate that names its title"},
    {"naming", 1, true, "fused_norm of the best candidate whose title it names"},
    {"kin", 1, true, "share of the best candidates with its document or title"},
    {"alike", 1, true, "how similar its words are to those of the ten best others"},
}};

/// What one leg says of one candidate.
struct Leg {
    std::optional<double> score;
    double reciprocal_rank = 0;
    double weight = 0;
};

/// The receipt that holds the legs themselves: of several collections' lists, the first of them.
const Receipt& receipt_of_legs(const Receipt& receipt) {
    for (const ReceiptSource& source : receipt.sources) {
        if (source.nested) return receipt_of_legs(*source.nested);
    }
    return receipt;
}

Leg leg_of(const Receipt& receipt, std::string_view name) {
    for (const ReceiptSource& source : receipt.sources) {
        if (source.source != name) continue;
        const int first = receipt.rank_base.value_or(1);
        const double rank = static_cast<double>(source.rank) + (1 - first);
        const bool listed = !source.filled && rank > 0;
        return {source.score, listed ? 1 / rank : 0.0, source.weight};
    }
    return {};
}

struct Spread {
    double min = 0;
    double max = 0;
    double mean = 0;
    double deviation = 0;

    double norm(double x) const { return max > min ? (x - min) / (max - min) : 1.0; }
    double z(double x) const { return deviation > 0 ? (x - mean) / deviation : 0.0; }
};

Spread spread_of(std::span<const double> values) {
    Spread spread;
    if (values.empty()) return spread;
    const auto [low, high] = std::ranges::minmax(values);
    const auto n = static_cast<double>(values.size());
    double sum = 0;
    for (const double x : values) sum += x;
    double squares = 0;
    for (const double x : values) squares += (x - sum / n) * (x - sum / n);
    const double deviation = std::sqrt(squares / n);
    // Scores that only rounding tells apart do not vary.
    constexpr double kNothing = 1e-12;
    return {low, high, sum / n, deviation > kNothing ? deviation : 0.0};
}

void add_leg(std::span<const Leg> legs, std::size_t at, std::vector<Vector>& out) {
    std::vector<double> scores;
    for (const Leg& leg : legs) {
        if (leg.score) scores.push_back(*leg.score);
    }
    const Spread spread = spread_of(scores);
    for (std::size_t i = 0; i < legs.size(); ++i) {
        const Leg& leg = legs[i];
        const double score = leg.score.value_or(spread.min);
        out[i][at] = leg.score.value_or(0);
        out[i][at + 1] = leg.score ? spread.norm(score) : 0.0;
        out[i][at + 2] = spread.z(score);
        out[i][at + 3] = spread.max - score;
        out[i][at + 4] = leg.reciprocal_rank;
        if (leg.reciprocal_rank > 0) out[i][kLegs] += 1;
    }
}

void add_scores(std::span<const Candidate> candidates, std::vector<Vector>& out) {
    std::vector<double> fused;
    std::vector<Leg> dense;
    std::vector<Leg> sparse;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const Receipt& whole = *candidates[i].receipt;
        const Receipt& own = receipt_of_legs(whole);
        fused.push_back(whole.fused);
        dense.push_back(leg_of(own, "dense"));
        sparse.push_back(leg_of(own, "sparse"));
        if (own.choice) {
            for (const ReceiptSignal& signal : own.choice->signals) {
                if (signal.name == "agreement") out[i][kAgreement] = signal.value;
                if (signal.name == "lead") out[i][kLead] = signal.value;
            }
        }
        const double both = dense.back().weight + sparse.back().weight;
        out[i][kDenseWeight] = both > 0 ? dense.back().weight / both : 0.0;
    }
    const Spread spread = spread_of(fused);
    for (std::size_t i = 0; i < fused.size(); ++i) {
        out[i][kFused] = fused[i];
        out[i][kFusedNorm] = spread.norm(fused[i]);
        out[i][kFusedZ] = spread.z(fused[i]);
    }
    add_leg(dense, kDense, out);
    add_leg(sparse, kSparse, out);
}

/// The clock has no part in it: the same list gives the same vectors, on every day.
void add_ages(std::span<const Candidate> candidates, std::span<Vector> out) {
    constexpr double kDay = 86'400e6;
    std::optional<Timestamp> newest;
    for (const Candidate& candidate : candidates) {
        const auto& created = candidate.chunk->created_at;
        if (created && (!newest || newest->micros < created->micros)) newest = created;
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto& created = candidates[i].chunk->created_at;
        out[i][kAge] = -1;
        if (!created || !newest) continue;
        const double age =
            static_cast<double>(newest->micros) - static_cast<double>(created->micros);
        out[i][kAge] = std::log1p(age / kDay);
    }
}

double mean_of(std::span<const Candidate> candidates) {
    double sum = 0;
    for (const Candidate& candidate : candidates) {
        sum += static_cast<double>(candidate.content.size());
    }
    return candidates.empty() ? 0 : sum / static_cast<double>(candidates.size());
}

}  // namespace

const std::array<Feature, kFeatures>& features() noexcept {
    return kList;
}

std::size_t feature_index(std::string_view name) noexcept {
    const auto* const found = std::ranges::find(kList, name, &Feature::name);
    return static_cast<std::size_t>(found - kList.begin());
}

std::vector<Vector> feature_vectors(const QueryTerms& query,
                                    std::span<const Candidate> candidates) {
    std::vector<Vector> out(candidates.size(), Vector{});
    add_scores(candidates, out);
    add_ages(candidates, out);
    const Words words(query);
    std::vector<Seen> seen;
    const double mean_length = query.mean_length > 0 ? query.mean_length : mean_of(candidates);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        out[i][kQueryTerms] = static_cast<double>(words.count());
        out[i][kIdfMass] = words.mass();
        seen.push_back(add_texts(words, candidates[i], mean_length, out[i]));
        const Chunk& chunk = *candidates[i].chunk;
        if (chunk.chunk_index && *chunk.chunk_index > 0) {
            out[i][kChunkIndex] = std::log1p(static_cast<double>(*chunk.chunk_index));
        }
    }
    add_rest(words, seen, out);
    add_relations(query, candidates, out);
    return out;
}

}  // namespace braid::rank
