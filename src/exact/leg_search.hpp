#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "braid/backend.hpp"
#include "braid/core/limits.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/exact/partition.hpp"
#include "braid/result.hpp"
#include "braid/text/analyzer.hpp"

namespace braid::exact {

/// What a principal sees of a partition at one point in time, whatever is appended meanwhile.
class View {
public:
    /// InvalidArgument if the principal's clearance is not one of the schema's levels.
    static Result<View> create(const Partition& partition, const Schema& schema,
                               const Principal& principal, Sequence at);

    /// Below this number is every row it may show.
    std::size_t rows() const noexcept { return rows_; }
    bool shows(Row row) const noexcept {
        if (row >= rows_) return false;
        const RowFacts& facts = partition_->facts(row);
        return facts.visible(at_) && (all_labels_ || labels_[facts.label]);
    }
    /// kNoRow if there is no such chunk, or it may not be seen.
    Row find(const std::string& chunk_id) const {
        const Row row = partition_->find(chunk_id, at_);
        return row != kNoRow && shows(row) ? row : kNoRow;
    }
    const Partition& partition() const noexcept { return *partition_; }

private:
    View(const Partition& partition, Sequence at)
        : partition_(&partition), at_(at), rows_(partition.rows()) {}

    const Partition* partition_;
    Sequence at_;
    std::size_t rows_;  // taken before the labels, which are then those of all these rows
    bool all_labels_ = false;
    std::vector<bool> labels_;  // by label: may be seen
};

/// Which of the rows that a view shows a filter admits. Looks at the limits every few thousand
/// comparisons, and holds no lock meanwhile.
class RowFilter {
public:
    /// No filter admits every row. Both must outlive it.
    RowFilter(const View& view, const docs::FilterMatcher* filter, const CallLimits& limits)
        : view_(&view), filter_(filter), limits_(&limits) {
        if (filter_ != nullptr) cost_ += filter_->cost();
    }

    bool admits_all() const noexcept { return filter_ == nullptr; }
    /// Requires that the view shows the row.
    Result<bool> admits(Row row) {
        if (steps_.due(cost_)) BRAID_CHECK(core::check_limits(*limits_));
        return filter_ == nullptr || filter_->matches(view_->partition().chunk(row));
    }

    /// Calls `use(row)` for every row that the view shows and the filter admits, in row order; an
    /// error that it returns ends that.
    template <class Use>
    Result<> for_each(const Use& use) {
        for (Row row = 0; row < view_->rows(); ++row) {
            if (!view_->shows(row)) {
                if (steps_.due()) BRAID_CHECK(core::check_limits(*limits_));
                continue;
            }
            BRAID_TRY(const bool admitted, admits(row));
            if (!admitted) continue;
            if constexpr (std::is_void_v<decltype(use(row))>) {
                use(row);
            } else {
                BRAID_CHECK(use(row));
            }
        }
        return {};
    }

private:
    const View* view_;
    const docs::FilterMatcher* filter_;
    const CallLimits* limits_;
    std::size_t cost_ = 1;
    core::StepCounter steps_;
};

/// Terms of many rows, added per text field as integers: the sum does not depend on their order.
class LengthSum {
public:
    explicit LengthSum(const Schema& schema)
        : schema_(&schema), terms_(schema.text_fields.size()) {}

    void add(std::span<const std::uint32_t> field_lengths) noexcept {
        for (std::size_t i = 0; i < terms_.size(); ++i) terms_[i] += field_lengths[i];
    }
    /// Each field's terms times its weight.
    double weighted() const noexcept;

private:
    const Schema* schema_;
    std::vector<std::uint64_t> terms_;
};

struct ScoredRow {
    Row row = kNoRow;
    double score = 0;
};

/// Scores of one leg for every row that is visible, admitted by the filter, and has one (a vector,
/// or a word of the query), in row order. Of the sparse ones, which Okapi's negative weights can
/// pull below zero, a list holds those above zero. The slow, complete reference: every list and
/// every pruned search must agree with it. DeadlineExceeded or Cancelled when the limits say so.
///
/// Vectors that the filter leaves out are not scored. Words are: their statistics do not depend on
/// the filter, which is then asked about the rows that hold one.
Result<std::vector<ScoredRow>> score_dense(const View& view, const Schema& schema, const Leg& leg,
                                           const docs::FilterMatcher* filter,
                                           const CallLimits& limits);
Result<std::vector<ScoredRow>> score_sparse(const View& view, const Schema& schema,
                                            const text::Analyzer& analyzer, const Leg& leg,
                                            const docs::FilterMatcher* filter,
                                            const CallLimits& limits);

/// What score_sparse weighs the words of `texts` by, unless the leg brings its own; of every term
/// if asked for, which Okapi needs where a word is in more than half of the chunks.
Result<TextStatistics> text_statistics(const View& view, const Schema& schema,
                                       const text::Analyzer& analyzer,
                                       std::span<const std::string> texts, bool every_term,
                                       const CallLimits& limits);

/// The best `depth`, by score, then smaller chunk id.
std::vector<ScoredRow> best(const Partition& partition, std::vector<ScoredRow> rows,
                            std::size_t depth);

}  // namespace braid::exact
