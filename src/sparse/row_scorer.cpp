#include "braid/sparse/row_scorer.hpp"

#include <algorithm>

namespace braid::sparse {

Result<RowScorer> RowScorer::create(const IndexReader& reader, const Query& query,
                                    std::span<const std::optional<TermEntry>> entries) {
    BRAID_CHECK(validate(query, reader.fields()));
    const bool known = !entries.empty();
    if (known && entries.size() != query.terms.size()) {
        return invalid_argument("query: the entries belong to other terms");
    }
    RowScorer scorer;
    scorer.reader_ = &reader;
    BRAID_TRY(scorer.facts_, reader.row_facts());
    scorer.bm25_ = query.bm25;
    scorer.field_weights_ = query.field_weights;
    scorer.average_ = query.corpus.average_length();
    for (std::uint32_t i = 0; i < query.terms.size(); ++i) {
        const QueryTerm& term = query.terms[i];
        const double weight = term_weight(query, term);
        if (term.df == 0) continue;
        std::optional<TermEntry> entry;
        if (known) {
            entry = entries[i];
        } else {
            BRAID_TRY(entry, reader.dictionary().find(term.term));
        }
        if (!entry) continue;
        scorer.wanted_.push_back({entry->id, static_cast<std::uint32_t>(scorer.terms_.size())});
        scorer.terms_.push_back({i, weight, *entry});
    }
    std::ranges::sort(scorer.wanted_, {}, &Wanted::id);
    const auto twice = std::ranges::adjacent_find(scorer.wanted_, {}, &Wanted::id);
    if (twice != scorer.wanted_.end()) {
        const FoundTerm& term = scorer.terms_[twice->found];
        return invalid_argument("query: term \"" + query.terms[term.position].term +
                                "\" is given twice");
    }
    return scorer;
}

double RowScorer::weighted_length(std::uint32_t row) const noexcept {
    double length = 0;
    for (std::size_t f = 0; f < field_weights_.size(); ++f) {
        length += field_weights_[f] * static_cast<double>(facts_.length(row, f));
    }
    return length;
}

double RowScorer::weighted_tf(const ForwardCursor& cursor) const noexcept {
    double tf = 0;
    for (std::uint32_t f = 0; f < field_weights_.size(); ++f) {
        tf += field_weights_[f] * static_cast<double>(cursor.count(f));
    }
    return tf;
}

double RowScorer::weighted_tf(const std::uint32_t* counts) const noexcept {
    double tf = 0;
    for (std::uint32_t f = 0; f < field_weights_.size(); ++f) {
        tf += field_weights_[f] * static_cast<double>(counts[f]);
    }
    return tf;
}

Result<> RowScorer::match_forward(std::uint32_t row) {
    BRAID_TRY(ForwardCursor cursor, facts_.terms(row));
    const Wanted* next = wanted_.data();
    const Wanted* const end = next + wanted_.size();
    constexpr std::ptrdiff_t kFew = 16;
    while (cursor.next()) {
        if (end - next > kFew) {
            next = std::lower_bound(next, end, cursor.term(),
                                    [](const Wanted& a, std::uint32_t id) { return a.id < id; });
        } else {
            while (next != end && next->id < cursor.term()) ++next;
        }
        if (next == end) break;
        if (next->id != cursor.term()) continue;
        const double tf = weighted_tf(cursor);
        if (tf > 0) matched_.push_back({next->found, tf});
        if (++next == end) break;
    }
    if (cursor.broken()) return corrupt_index("the terms of a row cannot be read");
    std::ranges::sort(matched_, {}, &Matched::found);
    return {};
}

Result<> RowScorer::match_lists(std::uint32_t row) {
    while (finders_.size() < terms_.size()) {
        BRAID_TRY(finders_.emplace_back(),
                  CountFinder::create(*reader_, terms_[finders_.size()].entry));
    }
    FieldCounts counts;
    for (std::uint32_t found = 0; found < terms_.size(); ++found) {
        if (!finders_[found].find(row, counts)) continue;
        const double tf = weighted_tf(counts.data());
        if (tf > 0) matched_.push_back({found, tf});
    }
    return {};
}

Result<double> RowScorer::score(std::uint32_t row) {
    if (wanted_.empty()) return 0.0;
    matched_.clear();
    BRAID_CHECK(facts_.has_forward() ? match_forward(row) : match_lists(row));
    const double norm = length_norm(bm25_, weighted_length(row), average_);
    double score = 0;
    for (const Matched& match : matched_) {
        score += terms_[match.found].weight * saturation(bm25_, match.tf, norm);
    }
    return score;
}

}  // namespace braid::sparse
