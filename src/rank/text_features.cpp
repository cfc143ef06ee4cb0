#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "braid/rank/feature_parts.hpp"

namespace braid::rank {
namespace {

/// Where one of the query's terms stands in a text.
struct Mention {
    std::size_t at = 0;
    std::size_t number = 0;
};

std::vector<Mention> mentions_in(const Words& words, std::span<const std::string> terms) {
    std::vector<Mention> out;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const std::size_t number = words.number(terms[i]);
        if (number != Words::kNone) out.push_back({i, number});
    }
    return out;
}

/// Distinct pairs of neighbours that the query has too.
double phrase_of(const Words& words, std::span<const Mention> mentions) {
    if (words.pairs() == 0) return 0;
    std::unordered_set<std::size_t> pairs;
    for (std::size_t i = 1; i < mentions.size(); ++i) {
        const Mention& a = mentions[i - 1];
        const Mention& b = mentions[i];
        if (a.at + 1 == b.at && words.is_pair(a.number, b.number)) {
            pairs.insert(a.number * words.count() + b.number);
        }
    }
    return static_cast<double>(pairs.size()) / static_cast<double>(words.pairs());
}

/// The largest share of the query's weight within some neighbouring terms.
double window_of(const Words& words, std::span<const Mention> mentions) {
    constexpr std::size_t kWidth = 16;
    std::vector<std::size_t> counts(words.count(), 0);
    double held = 0;
    double most = 0;
    std::size_t first = 0;
    for (const Mention& mention : mentions) {
        if (counts[mention.number]++ == 0) held += words.weight(mention.number);
        while (mentions[first].at + kWidth <= mention.at) {
            const std::size_t gone = mentions[first++].number;
            if (--counts[gone] == 0) held -= words.weight(gone);
        }
        most = std::max(most, held);
    }
    return words.mass() > 0 ? std::clamp(most / words.mass(), 0.0, 1.0) : 0.0;
}

/// BM25, as a share of what a text of nothing but the query's terms would have at most.
double content_score(const Words& words, std::span<const Mention> mentions,
                     double relative_length) {
    constexpr double kSaturation = 0.6;
    constexpr double kLengthShare = 0.4;
    std::vector<double> counts(words.count(), 0);
    for (const Mention& mention : mentions) counts[mention.number] += 1;
    const double norm = kSaturation * (1 - kLengthShare + kLengthShare * relative_length);
    double sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        sum += words.weight(i) * counts[i] / (counts[i] + norm);
    }
    return words.mass() > 0 ? std::clamp(sum / words.mass(), 0.0, 1.0) : 0.0;
}

double opening_of(const Words& words, std::span<const Mention> mentions) {
    constexpr std::size_t kTerms = 30;
    Seen seen(words);
    for (const Mention& mention : mentions) {
        if (mention.at < kTerms) seen.add(mention.number);
    }
    return seen.weight_share();
}

double share_of_query(const Words& words, std::span<const std::string> terms) {
    if (terms.empty()) return 0;
    return static_cast<double>(mentions_in(words, terms).size()) /
           static_cast<double>(terms.size());
}

}  // namespace

Seen add_texts(const Words& words, const Candidate& candidate, double mean_length, Vector& out) {
    Seen all(words);
    all.add(candidate.title);
    all.add(candidate.section);
    out[kTitleCoverage] = all.weight_share();
    out[kTitleShare] = share_of_query(words, candidate.title);
    const std::vector<Mention> mentions = mentions_in(words, candidate.content);
    for (const Mention& mention : mentions) all.add(mention.number);
    out[kCoverage] = all.share();
    out[kIdfCoverage] = all.weight_share();
    out[kPhrase] = phrase_of(words, mentions);
    const auto length = static_cast<double>(candidate.content.size());
    out[kEarly] = mentions.empty() ? 0.0 : 1 - static_cast<double>(mentions.front().at) / length;
    out[kLength] = std::log1p(length);
    out[kContentScore] =
        content_score(words, mentions, mean_length > 0 ? length / mean_length : 1.0);
    out[kOpening] = opening_of(words, mentions);
    out[kWindow] = window_of(words, mentions);
    return all;
}

void add_rest(const Words& words, std::span<const Seen> seen, std::span<Vector> out) {
    if (seen.empty()) return;
    double lacking = 0;
    for (std::size_t term = 0; term < words.count(); ++term) {
        if (!seen.front().has(term)) lacking += words.weight(term);
    }
    if (lacking <= 0) return;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        double held = 0;
        for (std::size_t term = 0; term < words.count(); ++term) {
            if (seen[i].has(term) && !seen.front().has(term)) held += words.weight(term);
        }
        out[i][kRest] = std::min(held / lacking, 1.0);
    }
}

}  // namespace braid::rank
