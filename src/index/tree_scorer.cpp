#include "braid/index/tree_scorer.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "braid/index/phrase_count.hpp"
#include "braid/index/prepared.hpp"
#include "braid/sparse/bm25.hpp"

namespace braid::index {

using Match = Verdict::Match;
using Occur = QueryClause::Occur;

/// What is looked at while one chunk is evaluated.
struct TreeScorer::Reading {
    const ChunkWords& words;
    double norm = 0;
    /// Of each term in each field that was read, from its text.
    std::vector<std::vector<std::uint32_t>> positions{};
    std::vector<bool> read{};
};

TreeScorer::TreeScorer(std::shared_ptr<const WordTree> tree, const TextStatistics& statistics,
                       std::optional<double> mean_idf)
    : tree_(std::move(tree)),
      chunks_(statistics.chunks),
      average_(
          sparse::CorpusStatistics{statistics.chunks, statistics.total_length}.average_length()),
      mean_idf_(mean_idf.value_or(0)) {
    root_ = add(tree_->root, statistics);
}

double TreeScorer::idf(std::uint64_t df) const noexcept {
    if (df == 0) return 0;
    const Bm25& bm25 = tree_->schema.bm25;
    const double own = sparse::idf(bm25.variant, chunks_, df);
    return bm25.variant == Bm25Variant::Okapi && own < 0 ? bm25.epsilon * mean_idf_ : own;
}

std::uint32_t TreeScorer::number_of(const std::string& term) {
    const auto [found, added] =
        numbers_.try_emplace(term, static_cast<std::uint32_t>(terms_.size()));
    if (added) terms_.push_back(term);
    return found->second;
}

TreeScorer::Clause TreeScorer::add(const TreeClause& clause, const TextStatistics& statistics) {
    Clause added;
    added.occur = clause.occur;
    if (clause.leaf) added.leaf = add_leaf(*clause.leaf, statistics);
    for (const TreeClause& inner : clause.clauses) {
        added.clauses.push_back(add(inner, statistics));
    }
    return added;
}

std::vector<TreeScorer::Alternative> TreeScorer::expand(const TreeLeaf& leaf,
                                                        const TextStatistics& statistics) {
    struct Fit {
        const std::string* term;
        std::uint64_t df;
        std::uint32_t difference;
    };
    std::vector<Fit> fits;
    for (const auto& [term, df] : statistics.frequencies) {
        if (const auto difference = leaf.difference(term)) fits.push_back({&term, df, *difference});
    }
    std::ranges::stable_sort(fits, std::greater(), &Fit::df);
    PatternWords& report = patterns_.emplace_back();
    report.pattern = leaf.pattern;
    report.matching = fits.size();
    if (fits.size() > kMostPatternTerms) fits.resize(kMostPatternTerms);
    std::vector<Alternative> alternatives;
    for (const Fit& fit : fits) {
        report.words.push_back(*fit.term);
        alternatives.push_back({number_of(*fit.term), 1.0 / (1.0 + fit.difference)});
    }
    return alternatives;
}

std::size_t TreeScorer::add_leaf(const TreeLeaf& leaf, const TextStatistics& statistics) {
    Leaf added;
    added.offsets = leaf.offsets;
    added.between = leaf.between;
    added.field = leaf.field;
    added.boost = leaf.boost;
    if (leaf.is_pattern()) added.places.push_back(expand(leaf, statistics));
    for (const auto& place : leaf.places) {
        auto& alternatives = added.places.emplace_back();
        for (const std::string& term : place) {
            if (statistics.frequencies.contains(term)) alternatives.push_back({number_of(term), 1});
        }
    }
    while (frequencies_.size() < terms_.size()) {
        frequencies_.push_back(statistics.frequencies.find(terms_[frequencies_.size()])->second);
    }
    for (const auto& place : added.places) {
        std::uint64_t df = 0;
        for (const Alternative& one : place) df = std::max(df, frequency(one.term));
        added.place_weights.push_back(leaf.boost * idf(df));
        added.weight += added.place_weights.back();
    }
    const auto same_words = [](const auto& a, const auto& b) {
        return std::ranges::equal(a, b, {}, &Alternative::term, &Alternative::term);
    };
    for (const auto& place : added.places) {
        const auto first = std::ranges::find_if(
            added.places, [&](const auto& other) { return same_words(place, other); });
        const auto at = static_cast<std::uint32_t>(first - added.places.begin());
        const auto word =
            std::ranges::find(added.words, at, &std::pair<std::uint32_t, std::uint32_t>::first);
        if (word == added.words.end()) {
            added.words.emplace_back(at, 1);
        } else {
            ++word->second;
        }
        added.same.push_back(at);
    }
    leaves_.push_back(std::move(added));
    return leaves_.size() - 1;
}

bool TreeScorer::has_phrases() const noexcept {
    return std::ranges::any_of(leaves_, &Leaf::is_phrase);
}

double TreeScorer::weighted_count(const std::vector<Alternative>& place, std::size_t field,
                                  const ChunkWords& words) const noexcept {
    const std::size_t fields = tree_->schema.text_fields.size();
    double count = 0;
    for (const Alternative& one : place) {
        count += one.weight * static_cast<double>(words.counts[one.term * fields + field]);
    }
    return count;
}

/// How often a field contains the leaf; for a phrase whose text is not at hand, at most how often.
double TreeScorer::count_in(const Leaf& leaf, std::size_t field, Reading& reading) const {
    double least = weighted_count(leaf.places.front(), field, reading.words);
    for (std::size_t i = 0; leaf.is_phrase() && i < leaf.words.size() && least > 0; ++i) {
        const auto& [place, times] = leaf.words[i];
        const double count = weighted_count(leaf.places[place], field, reading.words);
        least = count < times ? 0 : std::min(least, count);
    }
    if (!leaf.is_phrase() || least == 0 || !reading.words.knows_phrases()) return least;
    return count_phrase_in(leaf, field, reading);
}

/// The positions of the terms in a field, from its text.
void TreeScorer::read_text(std::size_t field, Reading& reading) const {
    const std::size_t fields = tree_->schema.text_fields.size();
    reading.positions.resize(terms_.size() * fields);
    reading.read.resize(fields);
    if (reading.read[field]) return;
    reading.read[field] = true;
    std::vector<text::Token> tokens;
    tree_->analyzer.for_text(reading.words.chunk->content)
        .analyze(field_text(*reading.words.chunk, tree_->schema.text_fields[field].name), tokens);
    for (const text::Token& token : tokens) {
        const auto found = numbers_.find(token.term);
        if (found == numbers_.end()) continue;
        reading.positions[found->second * fields + field].push_back(token.position);
    }
}

std::uint32_t TreeScorer::count_phrase_in(const Leaf& leaf, std::size_t field,
                                          Reading& reading) const {
    using Where = std::span<const std::uint32_t>;
    const std::size_t fields = tree_->schema.text_fields.size();
    const bool stored = !reading.words.positions.empty();
    if (!stored) read_text(field, reading);
    const auto of = [&](const Alternative& one) -> Where {
        const std::size_t at = one.term * fields + field;
        return stored ? reading.words.positions[at] : Where(reading.positions[at]);
    };
    constexpr std::size_t kFew = 8;
    std::array<Where, kFew> few;
    std::vector<Where> many(leaf.places.size() > kFew ? leaf.places.size() : 0);
    const std::span<Where> where = many.empty() ? std::span(few).first(leaf.places.size()) : many;
    std::vector<std::vector<std::uint32_t>> joined;
    joined.reserve(leaf.places.size());
    for (std::size_t p = 0; p < leaf.places.size(); ++p) {
        const auto& place = leaf.places[p];
        if (place.size() == 1) {
            where[p] = of(place.front());
            continue;
        }
        auto& all = joined.emplace_back();
        for (const Alternative& one : place) all.insert(all.end(), of(one).begin(), of(one).end());
        std::ranges::sort(all);
        where[p] = all;
    }
    return count_phrase({leaf.offsets, leaf.same, leaf.between}, where);
}

Verdict TreeScorer::evaluate(const Leaf& leaf, Reading& reading) const {
    Verdict verdict;
    double tf = 0;
    for (std::size_t field = 0; field < tree_->schema.text_fields.size(); ++field) {
        if (leaf.field && *leaf.field != field) continue;
        const double count = count_in(leaf, field, reading);
        if (count == 0) continue;
        const bool sure = !leaf.is_phrase() || reading.words.knows_phrases();
        verdict.match = sure ? Match::Yes : Match::Perhaps;
        verdict.sure = sure;
        tf += tree_->schema.text_fields[field].weight * count;
    }
    if (tf > 0) {
        verdict.score = leaf.weight * sparse::saturation(tree_->schema.bm25, tf, reading.norm);
    }
    return verdict;
}

Verdict TreeScorer::evaluate(const Clause& clause, Reading& reading) const {
    if (clause.leaf) return evaluate(leaves_[*clause.leaf], reading);
    Verdict verdict;
    bool must = false;
    bool perhaps = false;
    Match any = Match::No;  // of the optional ones
    for (const Clause& inner : clause.clauses) {
        const Verdict one = evaluate(inner, reading);
        if (inner.occur == Occur::Not) {
            if (one.match == Match::Yes) return {};
            perhaps = perhaps || one.match == Match::Perhaps;
            continue;
        }
        if (inner.occur == Occur::Must) {
            if (one.match == Match::No) return {};
            must = true;
            perhaps = perhaps || one.match == Match::Perhaps;
        } else {
            any = std::max(any, one.match);
        }
        if (one.match == Match::No) continue;
        verdict.score += one.score;
        verdict.sure = verdict.sure && one.sure;
    }
    if (!must && any == Match::No) return {};
    if (!must && any == Match::Perhaps) perhaps = true;
    verdict.match = perhaps ? Match::Perhaps : Match::Yes;
    verdict.sure = verdict.sure && !perhaps;
    return verdict;
}

Verdict TreeScorer::evaluate(const ChunkWords& words) const {
    Reading reading{words, sparse::length_norm(tree_->schema.bm25, words.length, average_)};
    return evaluate(root_, reading);
}

namespace {

/// Leaves that can raise a score, in order; false if they are not all plain words of the root.
bool collect_raising(const TreeScorer::Clause& clause, std::vector<std::size_t>& leaves) {
    bool plain = true;
    for (const TreeScorer::Clause& inner : clause.clauses) {
        if (inner.occur == Occur::Not) continue;
        if (inner.leaf) {
            leaves.push_back(*inner.leaf);
        } else {
            collect_raising(inner, leaves);
            plain = false;
        }
    }
    return plain;
}

}  // namespace

std::optional<TreeScorer::Bound> TreeScorer::bound() const {
    Bound bound;
    std::vector<std::size_t> raising;
    bound.exact = collect_raising(root_, raising);
    std::vector<double> needed(terms_.size(), 0.0);
    std::vector<std::uint32_t> order;
    for (const std::size_t i : raising) {
        const Leaf& leaf = leaves_[i];
        if (!(leaf.weight >= 0)) return std::nullopt;
        const bool word = !leaf.is_phrase() && leaf.places.front().size() <= 1 && !leaf.field;
        bound.exact = bound.exact && word;
        for (std::size_t p = 0; p < leaf.places.size(); ++p) {
            if (!(leaf.place_weights[p] >= 0)) return std::nullopt;
            for (const Alternative& one : leaf.places[p]) {
                const bool first = std::ranges::find(order, one.term) == order.end();
                if (first) order.push_back(one.term);
                bound.exact = bound.exact && first && one.weight == 1;
                const double idf_of_term = idf(frequency(one.term));
                if (!(idf_of_term > 0)) return std::nullopt;
                needed[one.term] += word ? leaf.boost : leaf.place_weights[p] / idf_of_term;
            }
        }
    }
    for (const std::uint32_t term : order) bound.words.push_back({terms_[term], needed[term]});
    return bound;
}

}  // namespace braid::index
