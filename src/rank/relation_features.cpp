#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "braid/rank/feature_parts.hpp"

namespace braid::rank {
namespace {

/// Titles that are looked for in texts, by their first terms.
class Names {
public:
    explicit Names(std::span<const Candidate> candidates) : candidates_(candidates) {
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (!candidates[i].name.empty()) {
                starting_[candidates[i].name.front()].push_back(i);
            }
        }
    }

    /// Which of the candidates a text names.
    template <class Use>
    void each_in(std::span<const std::string> text, const Use& use) const {
        for (std::size_t at = 0; at < text.size(); ++at) {
            const auto found = starting_.find(text[at]);
            if (found == starting_.end()) continue;
            for (const std::size_t i : found->second) {
                const auto& name = candidates_[i].name;
                if (at + name.size() <= text.size() &&
                    std::ranges::equal(name, text.subspan(at, name.size()))) {
                    use(i);
                }
            }
        }
    }

private:
    std::span<const Candidate> candidates_;
    std::unordered_map<std::string_view, std::vector<std::size_t>> starting_;
};

/// Which candidates name each other's titles, and which ones the query names.
void add_names(const QueryTerms& query, std::span<const Candidate> candidates,
               std::span<Vector> out) {
    constexpr std::size_t kBest = 6;
    const auto best = candidates.first(std::min(kBest, candidates.size()));
    const Names all(candidates);
    const Names of_best(best);
    all.each_in(query.words, [&](std::size_t i) { out[i][kAsked] = 1; });
    const auto add = [&](std::size_t to, std::size_t by, Place place) {
        if (candidates[to].name == candidates[by].name) return;
        out[to][place] = std::max(out[to][place], out[by][kFusedNorm]);
    };
    for (std::size_t i = 0; i < best.size(); ++i) {
        all.each_in(best[i].content, [&](std::size_t named) { add(named, i, kNamed); });
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        of_best.each_in(candidates[i].content, [&](std::size_t named) { add(i, named, kNaming); });
    }
}

/// How much of the best candidates, each weighted by its fused score, is of the same document or
/// has the same title.
void add_kin(std::span<const Candidate> candidates, std::span<Vector> out) {
    constexpr double kSteepness = 8;
    std::unordered_map<std::string_view, double> of_document;
    std::unordered_map<std::string_view, double> of_title;
    std::vector<double> worth;
    double all = 0;
    const auto title_of = [](const Candidate& candidate) {
        return candidate.chunk->title ? std::string_view(*candidate.chunk->title)
                                      : std::string_view();
    };
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        worth.push_back(std::exp(kSteepness * (out[i][kFusedNorm] - 1)));
        all += worth.back();
        of_document[candidates[i].chunk->document_id] += worth.back();
        of_title[title_of(candidates[i])] += worth.back();
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        double kin = candidates[i].chunk->document_id.empty()
                         ? worth[i]
                         : of_document[candidates[i].chunk->document_id];
        const std::string_view title = title_of(candidates[i]);
        if (!title.empty()) kin = std::max(kin, of_title[title]);
        const double others = all - worth[i];
        // What is left of the sums when a lone candidate's part is taken away is rounding.
        constexpr double kNothing = 1e-9;
        if (others > kNothing && kin - worth[i] > kNothing) {
            out[i][kKin] = std::min((kin - worth[i]) / others, 1.0);
        }
    }
}

/// A text as a vector of length 1: of each term the logarithm of its count, times how few of the
/// candidates have it.
struct Bag {
    std::vector<std::pair<std::size_t, double>> terms;  // by number
};

/// Sets how many numbers there are.
std::vector<Bag> bags_of(std::span<const Candidate> candidates, std::size_t& terms_in_all) {
    std::unordered_map<std::string_view, std::size_t> numbers;
    std::vector<double> holders;
    std::vector<Bag> bags;
    bags.reserve(candidates.size());
    std::vector<std::size_t> found;
    for (const Candidate& candidate : candidates) {
        found.clear();
        for (const auto* const terms : {&candidate.title, &candidate.content}) {
            for (const std::string& term : *terms) {
                found.push_back(numbers.emplace(term, numbers.size()).first->second);
            }
        }
        holders.resize(numbers.size(), 0);
        std::ranges::sort(found);
        Bag& bag = bags.emplace_back();
        for (std::size_t i = 0; i < found.size();) {
            std::size_t end = i;
            while (end < found.size() && found[end] == found[i]) ++end;
            bag.terms.emplace_back(found[i], 1 + std::log(static_cast<double>(end - i)));
            holders[found[i]] += 1;
            i = end;
        }
    }
    terms_in_all = numbers.size();
    const auto all = static_cast<double>(candidates.size());
    for (Bag& bag : bags) {
        double squares = 0;
        for (auto& [number, weight] : bag.terms) {
            weight *= std::log1p((all - holders[number] + 0.5) / (holders[number] + 0.5));
            squares += weight * weight;
        }
        for (auto& [number, weight] : bag.terms) weight /= std::sqrt(squares);
    }
    return bags;
}

/// What the best candidates have in common is what the question is about, whatever its words.
void add_likeness(std::span<const Candidate> candidates, std::span<Vector> out) {
    constexpr std::size_t kBest = 11;  // one of them may be the candidate itself
    std::size_t terms = 0;
    const std::vector<Bag> bags = bags_of(candidates, terms);
    std::vector<double> best(terms, 0);
    const auto weight_of = [](std::size_t place) {
        return 1 / std::sqrt(static_cast<double>(place + 1));
    };
    double weights = 0;
    for (std::size_t i = 0; i < std::min(kBest, bags.size()); ++i) {
        weights += weight_of(i);
        for (const auto& [number, weight] : bags[i].terms) best[number] += weight_of(i) * weight;
    }
    for (std::size_t i = 0; i < bags.size(); ++i) {
        double sum = 0;
        for (const auto& [number, weight] : bags[i].terms) sum += best[number] * weight;
        const double own = i < kBest && !bags[i].terms.empty() ? weight_of(i) : 0.0;
        const double others = weights - (i < kBest ? weight_of(i) : 0.0);
        if (others > 0) out[i][kAlike] = std::clamp((sum - own) / others, 0.0, 1.0);
    }
}

}  // namespace

void add_relations(const QueryTerms& query, std::span<const Candidate> candidates,
                   std::span<Vector> out) {
    add_names(query, candidates, out);
    add_kin(candidates, out);
    add_likeness(candidates, out);
}

}  // namespace braid::rank
