#include "braid/segment/part_tree.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "braid/sparse/row_sets.hpp"

namespace braid::segment {

using Clause = index::TreeScorer::Clause;
using Leaf = index::TreeScorer::Leaf;
using Place = std::vector<index::TreeScorer::Alternative>;
using Occur = QueryClause::Occur;
using Match = index::Verdict::Match;

Result<> add_fitting(const sparse::IndexReader& words, const index::WordTree& tree,
                     std::vector<std::string>& terms) {
    std::unordered_set<std::string> known(terms.begin(), terms.end());
    const auto add = [&](std::string_view term) {
        if (known.emplace(term).second) terms.emplace_back(term);
        return true;
    };
    for (const index::TreeLeaf* const pattern : tree.patterns()) {
        if (pattern->kind == index::TreeLeaf::Kind::Prefix) {
            BRAID_CHECK(words.dictionary().each_with_prefix(
                pattern->beginning,
                [&](std::string_view term, const sparse::TermEntry&) { return add(term); }));
            if (!pattern->term.empty()) add(pattern->term);
        } else {
            BRAID_CHECK(
                words.dictionary().each_near(pattern->term, pattern->distance,
                                             [&](std::string_view term, const sparse::TermEntry&,
                                                 std::size_t) { return add(term); }));
        }
    }
    return {};
}

Result<PartTree> PartTree::create(const PartView& view, const index::TreeScorer& scorer,
                                  const Schema& schema) {
    const bool phrases = scorer.has_phrases() && view.part().words().has_positions();
    BRAID_TRY(const sparse::RowFacts facts, view.part().words().row_facts(phrases));
    PartTree tree(view, scorer, schema, facts);
    for (std::uint32_t i = 0; i < scorer.terms().size(); ++i) {
        BRAID_TRY(const auto entry, tree.words().dictionary().find(scorer.terms()[i]));
        tree.entries_.push_back(entry);
        if (entry) tree.wanted_.push_back({entry->id, i});
        if (facts.has_forward()) continue;
        auto& finder = tree.finders_.emplace_back();
        if (!entry) continue;
        BRAID_TRY(finder, sparse::CountFinder::create(tree.words(), *entry));
    }
    std::ranges::sort(tree.wanted_, {}, &Wanted::id);
    tree.counts_.resize(scorer.terms().size() * schema.text_fields.size());
    tree.with_positions_ = phrases;
    if (phrases) {
        tree.firsts_.resize(tree.counts_.size());
        tree.positions_.resize(tree.counts_.size());
    }
    return tree;
}

Result<> PartTree::read_forward(std::uint32_t row) {
    const std::size_t fields = schema_->text_fields.size();
    BRAID_TRY(sparse::ForwardCursor cursor, facts_.terms(row));
    std::size_t words_before = 0;
    for (auto next = wanted_.begin(); next != wanted_.end() && cursor.next();) {
        while (next != wanted_.end() && next->id < cursor.term()) ++next;
        if (next == wanted_.end()) break;
        const bool wanted = next->id == cursor.term();
        if (!wanted && !with_positions_) continue;
        for (std::uint32_t f = 0; f < fields; ++f) {
            const std::uint32_t count = cursor.count(f);
            if (wanted) {
                counts_[next->number * fields + f] = count;
                if (with_positions_) firsts_[next->number * fields + f] = words_before;
            }
            words_before += count;
        }
        if (wanted) ++next;
    }
    if (cursor.broken()) return sparse::corrupt_index("the terms of a row cannot be read");
    return {};
}

Result<> PartTree::read_lists(std::uint32_t row) {
    const std::size_t fields = schema_->text_fields.size();
    sparse::FieldCounts counts;
    for (std::size_t i = 0; i < finders_.size(); ++i) {
        if (!finders_[i].find(row, counts)) continue;
        std::copy_n(counts.begin(), fields,
                    counts_.begin() + static_cast<std::ptrdiff_t>(i * fields));
    }
    return {};
}

Result<index::Verdict> PartTree::evaluate(std::uint32_t row, bool with_text) {
    const std::size_t fields = schema_->text_fields.size();
    std::ranges::fill(counts_, 0U);
    BRAID_CHECK(facts_.has_forward() ? read_forward(row) : read_lists(row));
    std::array<std::uint32_t, sparse::kMaxFields> lengths{};
    for (std::size_t f = 0; f < fields; ++f) lengths[f] = facts_.length(row, f);
    index::ChunkWords words;
    words.counts = counts_;
    words.length = index::weighted_length(*schema_, std::span(lengths).first(fields));
    if (with_positions_) {
        BRAID_CHECK(read_positions(row));
        words.positions = positions_;
    }
    const index::Verdict verdict = scorer_->evaluate(words);
    if (!with_text || verdict.match == Match::No || verdict.sure) return verdict;
    BRAID_TRY(const Chunk chunk, view_->part().chunk(row, false));
    words.chunk = &chunk;
    return scorer_->evaluate(words);
}

/// The positions of the terms that were counted.
Result<> PartTree::read_positions(std::uint32_t row) {
    BRAID_TRY(const sparse::Positions positions, facts_.positions(row));
    std::size_t all = 0;
    for (const std::uint32_t count : counts_) all += count;
    if (all > positions.size()) return sparse::corrupt_index("a row has too few positions");
    held_.resize(all);
    std::size_t next = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] > positions.size() || firsts_[i] > positions.size() - counts_[i]) {
            if (counts_[i] == 0) {
                positions_[i] = {};
                continue;
            }
            return sparse::corrupt_index("a row has too few positions");
        }
        for (std::size_t p = 0; p < counts_[i]; ++p) held_[next + p] = positions[firsts_[i] + p];
        positions_[i] = std::span(held_).subspan(next, counts_[i]);
        next += counts_[i];
    }
    return {};
}

Result<Bits> PartTree::rows_of_place(const Place& place) const {
    Bits rows = docs::make_bits(words().rows());
    for (const auto& one : place) {
        if (const auto& entry = entries_[one.term]) {
            BRAID_CHECK(sparse::add_rows(words(), *entry, rows));
        }
    }
    return rows;
}

Result<> PartTree::keep_place(const Place& place, Bits& rows) const {
    if (place.size() == 1 && entries_[place.front().term]) {
        return sparse::keep_rows(words(), *entries_[place.front().term], rows);
    }
    BRAID_TRY(const Bits own, rows_of_place(place));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] &= own[i];
    return {};
}

std::uint64_t PartTree::most_rows(const Place& place) const {
    std::uint64_t rows = 0;
    for (const auto& one : place) {
        if (const auto& entry = entries_[one.term]) rows += entry->df;
    }
    return rows;
}

std::uint64_t PartTree::most_rows(const Clause& clause) const {
    if (!clause.leaf) return words().rows();
    std::uint64_t least = words().rows();
    const Leaf& leaf = scorer_->leaves()[*clause.leaf];
    for (const auto& [place, times] : leaf.words) {
        least = std::min(least, most_rows(leaf.places[place]));
    }
    return least;
}

Result<PartTree::Rows> PartTree::rows_of_leaf(const Leaf& leaf) const {
    std::vector<const Place*> order;
    for (const auto& [place, times] : leaf.words) order.push_back(&leaf.places[place]);
    std::ranges::sort(order, {}, [&](const Place* place) { return most_rows(*place); });
    BRAID_TRY(Bits rows, rows_of_place(*order.front()));
    for (std::size_t i = 1; i < order.size(); ++i) BRAID_CHECK(keep_place(*order[i], rows));
    return Rows{std::move(rows), !leaf.is_phrase() && !leaf.field};
}

Result<PartTree::Rows> PartTree::rows_of(const Clause& clause) const {
    if (clause.leaf) return rows_of_leaf(scorer_->leaves()[*clause.leaf]);
    std::vector<const Clause*> must;
    for (const Clause& inner : clause.clauses) {
        if (inner.occur == Occur::Must) must.push_back(&inner);
    }
    std::ranges::sort(must, {}, [&](const Clause* one) { return most_rows(*one); });
    Rows found{docs::make_bits(words().rows()), true};
    if (!must.empty()) {
        BRAID_TRY(found, rows_of(*must.front()));
        for (std::size_t i = 1; i < must.size(); ++i) {
            const Clause& next = *must[i];
            const Leaf* const leaf = next.leaf ? &scorer_->leaves()[*next.leaf] : nullptr;
            if (leaf != nullptr && !leaf->is_phrase()) {
                BRAID_CHECK(keep_place(leaf->places.front(), found.rows));
                found.exact = found.exact && !leaf->field;
                continue;
            }
            BRAID_TRY(const Rows own, rows_of(next));
            for (std::size_t w = 0; w < found.rows.size(); ++w) found.rows[w] &= own.rows[w];
            found.exact = found.exact && own.exact;
        }
    }
    for (const Clause& inner : clause.clauses) {
        if (inner.occur != Occur::Optional || !must.empty()) continue;
        BRAID_TRY(const Rows own, rows_of(inner));
        for (std::size_t w = 0; w < found.rows.size(); ++w) found.rows[w] |= own.rows[w];
        found.exact = found.exact && own.exact;
    }
    for (const Clause& inner : clause.clauses) {
        if (inner.occur != Occur::Not) continue;
        BRAID_TRY(const Rows own, rows_of(inner));
        found.exact = found.exact && own.exact;
        if (!own.exact) continue;  // some of them may have to stay
        for (std::size_t w = 0; w < found.rows.size(); ++w) found.rows[w] &= ~own.rows[w];
    }
    return found;
}

Result<std::vector<double>> score_rows(const PartView& view, const index::TreeScorer& scorer,
                                       const Schema& schema, std::span<const std::uint32_t> rows) {
    BRAID_TRY(PartTree tree, PartTree::create(view, scorer, schema));
    std::vector<double> scores;
    for (const std::uint32_t row : rows) {
        BRAID_TRY(const index::Verdict verdict, tree.evaluate(row, true));
        scores.push_back(verdict.match == Match::Yes ? verdict.score : 0.0);
    }
    return scores;
}

}  // namespace braid::segment
