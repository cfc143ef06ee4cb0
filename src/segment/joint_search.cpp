#include "braid/segment/joint_search.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "braid/core/limits.hpp"
#include "braid/sparse/bm25.hpp"
#include "braid/sparse/joint_rows.hpp"
#include "braid/sparse/top_rows.hpp"

namespace braid::segment {
namespace {

using Clause = index::TreeScorer::Clause;
using Leaf = index::TreeScorer::Leaf;
using Occur = QueryClause::Occur;
using Match = index::Verdict::Match;

constexpr std::size_t kMostTerms = sparse::JointRows::kMostTerms;

/// The terms held by every row that the clause finds.
void add_required(const index::TreeScorer& scorer, const Clause& clause,
                  std::vector<std::uint32_t>& terms) {
    if (clause.leaf) {
        for (const auto& place : scorer.leaves()[*clause.leaf].places) {
            if (place.size() != 1) continue;
            const std::uint32_t term = place.front().term;
            if (std::ranges::find(terms, term) == terms.end()) terms.push_back(term);
        }
        return;
    }
    const auto count = [&](Occur occur) {
        return std::ranges::count(clause.clauses, occur, &Clause::occur);
    };
    const bool must = count(Occur::Must) > 0;
    if (!must && count(Occur::Optional) != 1) return;
    for (const Clause& inner : clause.clauses) {
        if (inner.occur == (must ? Occur::Must : Occur::Optional)) {
            add_required(scorer, inner, terms);
        }
    }
}

/// The leaves that can raise a score.
void add_raising(const Clause& clause, std::vector<std::size_t>& leaves) {
    if (clause.occur == Occur::Not) return;
    if (clause.leaf) leaves.push_back(*clause.leaf);
    for (const Clause& inner : clause.clauses) add_raising(inner, leaves);
}

/// The most a row can score, by what the lists of the required terms say about it.
class Ceiling {
public:
    Ceiling(const index::TreeScorer& scorer, const sparse::QueryBounds& bounds,
            std::span<const std::size_t> joint, std::span<const std::uint32_t> terms,
            const Schema& schema)
        : bm25_(schema.bm25), count_(joint.size()) {
        for (std::size_t i = 0; i < count_; ++i) {
            const sparse::BoundedTerm& term = bounds.terms()[joint[i]];
            by_code_[i] = bounds.saturations(term);
            max_tf_[i] = term.list.header.max_tf;
            most_[i].fill(0);
            for (std::uint32_t tf = 1; tf <= sparse::kTopTf; ++tf) {
                const std::uint32_t smallest = term.list.header.classes[tf - 1];
                const float here = smallest < sparse::kLengthClasses
                                       ? by_code_[i][sparse::RowCode(tf, smallest).bits()]
                                       : 0;
                most_[i][tf] = std::max(most_[i][tf - 1], here);
            }
        }
        std::vector<std::size_t> raising;
        add_raising(scorer.root(), raising);
        const double factor = bm25_.variant == Bm25Variant::Okapi ? bm25_.k1 + 1 : 1;
        plain_ = std::ranges::all_of(schema.text_fields,
                                     [](const TextField& field) { return field.weight == 1; });
        for (const std::size_t number : raising) {
            const Leaf& leaf = scorer.leaves()[number];
            Part part{.weight = leaf.weight * sparse::kInflate};
            for (const auto& place : leaf.places) {
                if (place.size() != 1) continue;
                const auto found = std::ranges::find(terms, place.front().term);
                if (found == terms.end()) continue;
                part.terms.push_back(static_cast<std::size_t>(found - terms.begin()));
            }
            if (part.terms.empty()) {
                rest_ += part.weight * factor;
            } else {
                parts_.push_back(std::move(part));
            }
        }
    }

    /// For a row with these codes.
    template <class CodeOf>
    double of(const CodeOf& code_of) const {
        return sum([&](std::size_t i) { return by_code_[i][code_of(i)]; });
    }
    /// Whether a row's own length says more than its length class does.
    bool can_refine() const noexcept { return plain_; }
    /// The same for a row of this length. Requires can_refine().
    template <class CodeOf>
    double of(const CodeOf& code_of, std::uint64_t length, double average) const {
        const double norm = sparse::length_norm(bm25_, static_cast<double>(length), average);
        return sum([&](std::size_t i) {
            const std::uint32_t tf = sparse::RowCode(code_of(i)).tf();
            const std::uint32_t most = tf == sparse::kTopTf ? max_tf_[i] : tf;
            return sparse::saturation(bm25_, static_cast<double>(most), norm);
        });
    }
    /// How often a row that reaches the threshold must have each term; false: none can reach it.
    bool least_for(double threshold, std::span<std::uint8_t> least) const {
        for (std::size_t i = 0; i < count_; ++i) {
            std::uint8_t tf = 1;
            const auto most = [&](std::size_t j) {
                return most_[j][j == i ? std::size_t{tf} : std::size_t{sparse::kTopTf}];
            };
            while (tf <= sparse::kTopTf && sum(most) < threshold) ++tf;
            if (tf > sparse::kTopTf) return false;
            least[i] = tf;
        }
        return true;
    }

private:
    struct Part {
        double weight = 0;
        std::vector<std::size_t> terms{};  // a leaf occurs as often as the rarest of its terms
    };

    template <class Saturation>
    double sum(const Saturation& saturation) const {
        double all = rest_;
        for (const Part& part : parts_) {
            auto least = saturation(part.terms.front());
            for (std::size_t i = 1; i < part.terms.size(); ++i) {
                least = std::min(least, saturation(part.terms[i]));
            }
            all += part.weight * static_cast<double>(least);
        }
        return all;
    }

    Bm25 bm25_;
    std::size_t count_;
    bool plain_ = false;  // all weights of fields are 1
    std::array<std::uint32_t, kMostTerms> max_tf_{};
    std::array<std::array<float, sparse::kRowCodes>, kMostTerms> by_code_{};
    std::array<std::array<float, sparse::kTopTf + 1>, kMostTerms> most_{};
    std::vector<Part> parts_;
    double rest_ = 0;
};

struct Bounded {
    double bound;
    std::uint32_t row;
};

/// Scores rows, those with the best bounds first.
Result<> score_best(PartTree& tree, std::span<Bounded> rows, std::size_t depth,
                    sparse::TopRows& best) {
    constexpr std::size_t kAhead = 4;
    for (std::size_t most = depth + 32; !rows.empty(); most *= 2) {
        // A batch of the best, then in row order: memory is read in order.
        const std::size_t size = std::min(rows.size(), most);
        const auto end = rows.begin() + static_cast<std::ptrdiff_t>(size);
        if (size < rows.size()) {
            std::ranges::nth_element(rows, end - 1, std::greater(), &Bounded::bound);
        }
        const std::span<Bounded> batch(rows.begin(), end);
        std::ranges::sort(batch, {}, &Bounded::row);
        for (std::size_t i = 0; i < std::min(kAhead, size); ++i) tree.prefetch(batch[i].row);
        for (std::size_t i = 0; i < size; ++i) {
            if (i + kAhead < size) tree.prefetch(batch[i + kAhead].row);
            if (batch[i].bound * (1 + kRounding) < best.threshold()) continue;
            BRAID_TRY(index::Verdict verdict, tree.evaluate(batch[i].row, false));
            if (verdict.match == Match::No) continue;
            if (!verdict.sure) {
                if (verdict.score * (1 + kRounding) < best.threshold()) continue;
                BRAID_TRY(verdict, tree.evaluate(batch[i].row, true));
            }
            if (verdict.match == Match::Yes) best.offer({batch[i].row, verdict.score});
        }
        const auto hopeless = [&](const Bounded& one) {
            return one.bound * (1 + kRounding) < best.threshold();
        };
        const auto left = std::remove_if(end, rows.end(), hopeless);
        rows = std::span<Bounded>(end, left);
    }
    return {};
}

}  // namespace

Result<std::optional<std::vector<sparse::ScoredRow>>> search_joint(PartTree& tree,
                                                                   const TreeSearch& search,
                                                                   const BitsPtr& allowed) {
    using Answer = std::optional<std::vector<sparse::ScoredRow>>;
    const sparse::IndexReader& words = tree.words();
    std::vector<std::uint32_t> terms;
    add_required(search.scorer, search.scorer.root(), terms);
    if (terms.empty()) return Answer();
    for (const std::uint32_t term : terms) {
        if (!tree.entry(term)) return Answer(std::vector<sparse::ScoredRow>());
    }
    std::ranges::sort(terms, {}, [&](std::uint32_t term) { return tree.entry(term)->df; });
    if (terms.size() > kMostTerms) terms.resize(kMostTerms);
    BRAID_TRY(const auto scorer, sparse::RowScorer::create(words, *search.bound));
    if (scorer.terms().size() > sparse::kMostBoundedTerms) return Answer();
    BRAID_TRY(const auto bounds, sparse::QueryBounds::create(words, scorer));
    std::vector<std::size_t> joint;
    for (const std::uint32_t term : terms) {
        const auto found =
            std::ranges::find(bounds.terms(), tree.entry(term)->id,
                              [](const sparse::BoundedTerm& one) { return one.list.entry.id; });
        if (found == bounds.terms().end()) return Answer();
        joint.push_back(static_cast<std::size_t>(found - bounds.terms().begin()));
    }
    const Ceiling ceiling(search.scorer, bounds, joint, terms, search.schema);
    sparse::JointRows rows(words, scorer.facts(), bounds, joint);
    const std::size_t depth = std::min<std::size_t>(search.depth, words.rows());
    sparse::TopRows best(depth, search.threshold, search.after);
    const std::span<const std::uint64_t> mask =
        allowed ? std::span<const std::uint64_t>(*allowed) : std::span<const std::uint64_t>();
    std::array<std::uint8_t, kMostTerms> least{};
    std::vector<Bounded> bounded;
    for (std::uint32_t window = 0; window < words.header().windows() && depth > 0; ++window) {
        BRAID_CHECK(core::check_limits(search.limits));
        const double threshold = best.threshold() * (1 - kRounding);
        if (!ceiling.least_for(threshold, std::span(least).first(joint.size()))) break;
        const auto found = rows.find(window, std::span(least).first(joint.size()), mask);
        std::array<std::span<const std::uint8_t>, kMostTerms> codes;
        for (std::size_t i = 0; i < joint.size(); ++i) codes[i] = rows.codes(i);
        bounded.clear();
        for (std::size_t f = 0; f < found.size(); ++f) {
            const auto code_of = [&](std::size_t i) { return codes[i][f]; };
            const std::uint32_t row = window * sparse::kWindowRows + found[f];
            double bound = ceiling.of(code_of);
            if (bound >= threshold && ceiling.can_refine()) {
                const std::uint64_t length = scorer.facts().total_length(row);
                bound = ceiling.of(code_of, length, scorer.average_length());
            }
            if (bound >= threshold) bounded.push_back({bound, row});
        }
        BRAID_CHECK(score_best(tree, bounded, depth, best));
    }
    return Answer(std::move(best).take());
}

}  // namespace braid::segment
