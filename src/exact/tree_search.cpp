#include "braid/exact/tree_search.hpp"

#include <algorithm>
#include <optional>

#include "braid/exact/leg_search.hpp"

namespace braid::exact {
namespace {

/// The rows of several lists together, in row order, with the counts of each list in each field.
class JoinedLists {
public:
    JoinedLists(const Partition& partition, const std::vector<std::string>& terms)
        : fields_(partition.weights().size()), counts_(terms.size() * fields_) {
        for (const std::string& term : terms)
            at_.push_back(partition.postings().find(term).begin());
    }

    /// To the next row; kNoRow at the end.
    Row next() {
        std::ranges::fill(counts_, 0U);
        std::uint32_t row = static_cast<std::uint32_t>(kNoRow);
        for (const auto& at : at_) {
            if (at != sparse::PostingList::end()) row = std::min(row, at->row);
        }
        for (std::size_t term = 0; term < at_.size(); ++term) {
            for (auto& at = at_[term]; at != sparse::PostingList::end() && at->row == row; ++at) {
                counts_[term * fields_ + at->field] = at->count;
            }
        }
        return Row{row};
    }
    const std::vector<std::uint32_t>& counts() const noexcept { return counts_; }

private:
    std::size_t fields_;
    std::vector<sparse::PostingList::Iterator> at_;
    std::vector<std::uint32_t> counts_;
};

}  // namespace

Result<> each_fitting(
    const Partition& partition, const index::WordTree& tree, const CallLimits& limits,
    const std::function<void(const std::string&, const sparse::PostingList&)>& use) {
    const auto patterns = tree.patterns();
    if (patterns.empty()) return {};
    core::StepCounter steps;
    for (const auto& [term, list] : partition.postings()) {
        if (steps.due(16)) BRAID_CHECK(core::check_limits(limits));
        const std::string_view known = term;
        if (std::ranges::any_of(patterns, [&](const index::TreeLeaf* pattern) {
                return pattern->difference(known).has_value();
            })) {
            use(term, list);
        }
    }
    return {};
}

Result<index::TreeScorer> tree_scorer(const VisibleRows& visible, const index::Query& query,
                                      const CallLimits& limits) {
    TextStatistics own;
    if (!query.statistics) {
        BRAID_TRY(own, text_statistics(visible, query, false, limits));
    }
    const TextStatistics& statistics = query.statistics ? *query.statistics : own;
    std::optional<double> mean = query.mean_idf;
    if (!mean && query.tree->schema.bm25.variant == Bm25Variant::Okapi) {
        if (query.statistics) {
            mean = mean_okapi_idf(statistics);
        } else {
            BRAID_TRY(const TextStatistics all, text_statistics(visible, {}, true, limits));
            mean = mean_okapi_idf(all);
        }
    }
    return index::TreeScorer(query.tree, statistics, mean);
}

Result<std::vector<ScoredRow>> score_tree(const VisibleRows& visible, const index::Query& query,
                                          const docs::FilterMatcher* filter,
                                          const CallLimits& limits) {
    const Partition& partition = visible.partition();
    BRAID_TRY(const index::TreeScorer scorer, tree_scorer(visible, query, limits));
    std::vector<ScoredRow> scored;
    RowFilter rows(visible, filter, limits);
    JoinedLists lists(partition, scorer.terms());
    core::StepCounter steps;
    for (Row row = lists.next(); row != kNoRow; row = lists.next()) {
        if (steps.due(64)) BRAID_CHECK(core::check_limits(limits));
        if (!visible.shows(row)) continue;
        BRAID_TRY(const bool admitted, rows.admits(row));
        if (!admitted) continue;
        const index::Verdict verdict =
            scorer.evaluate({.counts = lists.counts(),
                             .length = weighted_length(partition, row, query),
                             .chunk = &partition.chunk(row)});
        if (verdict.match == index::Verdict::Match::Yes) scored.push_back({row, verdict.score});
    }
    return scored;
}

}  // namespace braid::exact
