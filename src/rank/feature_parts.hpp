#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "braid/rank/features.hpp"

namespace braid::rank {

/// Where features stand in the vector.
enum Place : std::size_t {
    kFused,
    kFusedNorm,
    kFusedZ,
    kDense,
    kSparse = kDense + 5,
    kLegs = kSparse + 5,
    kAgreement,
    kLead,
    kDenseWeight,
    kQueryTerms,
    kIdfMass,
    kCoverage,
    kIdfCoverage,
    kTitleCoverage,
    kPhrase,
    kEarly,
    kLength,
    kChunkIndex,
    kAge,
    kContentScore,
    kTitleShare,
    kOpening,
    kWindow,
    kRest,
    kAsked,
    kNamed,
    kNaming,
    kKin,
    kAlike,
};
static_assert(kAlike + 1 == kFeatures);

/// The query's terms by number, so that passages are compared by numbers.
class Words {
public:
    explicit Words(const QueryTerms& query) {
        for (const auto& [word, weight] : query.weight) {
            numbers_.emplace(word, weights_.size());
            weights_.push_back(weight);
            mass_ += weight;
        }
        for (std::size_t i = 1; i < query.words.size(); ++i) {
            const std::size_t a = number(query.words[i - 1]);
            const std::size_t b = number(query.words[i]);
            if (a != kNone && b != kNone) pairs_.insert(a * weights_.size() + b);
        }
    }

    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    std::size_t number(std::string_view word) const {
        const auto found = numbers_.find(word);
        return found == numbers_.end() ? kNone : found->second;
    }
    std::size_t count() const { return weights_.size(); }
    double weight(std::size_t number) const { return weights_[number]; }
    double mass() const { return mass_; }
    std::size_t pairs() const { return pairs_.size(); }
    bool is_pair(std::size_t a, std::size_t b) const {
        return pairs_.contains(a * weights_.size() + b);
    }

private:
    std::unordered_map<std::string_view, std::size_t> numbers_;
    std::vector<double> weights_;
    std::unordered_set<std::size_t> pairs_;
    double mass_ = 0;
};

/// Which of the query's terms some texts hold.
class Seen {
public:
    explicit Seen(const Words& words) : words_(words), seen_(words.count(), false) {}

    void add(std::size_t number) { seen_[number] = true; }
    void add(std::span<const std::string> terms) {
        for (const std::string& term : terms) {
            if (const std::size_t number = words_.number(term); number != Words::kNone) add(number);
        }
    }
    bool has(std::size_t number) const { return seen_[number]; }
    double share() const {
        if (seen_.empty()) return 0;
        return static_cast<double>(std::ranges::count(seen_, true)) /
               static_cast<double>(seen_.size());
    }
    double weight_share() const {
        double sum = 0;
        for (std::size_t i = 0; i < seen_.size(); ++i) {
            if (seen_[i]) sum += words_.weight(i);
        }
        return words_.mass() > 0 ? sum / words_.mass() : 0.0;
    }

private:
    const Words& words_;
    std::vector<bool> seen_;
};

/// What the texts of one candidate say. Returns which of the query's terms they hold.
Seen add_texts(const Words& words, const Candidate& candidate, double mean_length, Vector& out);

/// What the best candidate lacks: the second passage of a question that needs two has it.
void add_rest(const Words& words, std::span<const Seen> seen, std::span<Vector> out);

/// What candidates say of each other: whose title is named, whose document it is, how alike they
/// are. `out` must have their fused scores.
void add_relations(const QueryTerms& query, std::span<const Candidate> candidates,
                   std::span<Vector> out);

}  // namespace braid::rank
