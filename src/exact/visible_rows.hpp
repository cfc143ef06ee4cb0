#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "braid/core/limits.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/exact/partition.hpp"
#include "braid/result.hpp"

namespace braid::exact {

/// The level of a principal that does not see everything, as an index into the schema's levels.
/// InvalidArgument if it is not one of them.
Result<std::size_t> clearance_of(const Principal& principal, const Schema& schema);

/// What a principal sees of a partition at one point in time, whatever is appended meanwhile.
class VisibleRows {
public:
    /// InvalidArgument if the principal's clearance is not one of the schema's levels. The
    /// partition must outlive it.
    static Result<VisibleRows> create(const Partition& partition, const Principal& principal,
                                      Sequence at, Timestamp now);

    /// Every row it may show is below this number.
    std::size_t rows() const noexcept { return rows_; }
    bool shows(Row row) const noexcept {
        if (index_of(row) >= rows_) return false;
        const RowFacts& facts = partition_->facts(row);
        return facts.visible(at_) && now_ < facts.expires && (all_labels_ || labels_[facts.label]);
    }
    /// kNoRow if there is no such chunk, or it may not be seen.
    Row find(const std::string& chunk_id) const {
        const Row row = partition_->find(chunk_id, at_);
        return row != kNoRow && shows(row) ? row : kNoRow;
    }
    const Partition& partition() const noexcept { return *partition_; }
    Sequence at() const noexcept { return at_; }

private:
    VisibleRows(const Partition& partition, Sequence at, Timestamp now)
        : partition_(&partition), at_(at), now_(now), rows_(partition.rows()) {}

    const Partition* partition_;
    Sequence at_;
    Timestamp now_;
    std::size_t rows_;  // taken before the labels, which then cover all these rows
    bool all_labels_ = false;
    std::vector<bool> labels_;  // by label: may be seen
};

/// Which of the visible rows a filter admits. Checks the limits every few thousand comparisons, and
/// holds no lock meanwhile.
class RowFilter {
public:
    /// Without a filter every row is admitted. All arguments must outlive it.
    RowFilter(const VisibleRows& visible, const docs::FilterMatcher* filter,
              const CallLimits& limits)
        : visible_(&visible), filter_(filter), limits_(&limits) {
        if (filter_ != nullptr) cost_ += filter_->cost();
    }

    bool admits_all() const noexcept { return filter_ == nullptr; }
    /// Requires a visible row.
    Result<bool> admits(Row row) {
        if (!admitted_.empty()) {
            if (steps_.due()) BRAID_CHECK(core::check_limits(*limits_));
            return (admitted_[index_of(row) / 64] >> (index_of(row) % 64) & 1) != 0;
        }
        if (steps_.due(cost_)) BRAID_CHECK(core::check_limits(*limits_));
        if (filter_ == nullptr) return true;
        if (++asked_ < kOneByOne) return filter_->matches(visible_->partition().chunk(row));
        BRAID_TRY(admitted_,
                  filter_->select(visible_->partition().columns(), visible_->rows(), *limits_));
        return admits(row);
    }

    /// Calls `use(row)` for every visible row that the filter admits, in row order; an error that
    /// it returns ends the walk.
    template <class Use>
    Result<> for_each(const Use& use) {
        for (std::size_t i = 0; i < visible_->rows(); ++i) {
            const Row row = row_at(i);
            if (!visible_->shows(row)) {
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
    const VisibleRows* visible_;
    const docs::FilterMatcher* filter_;
    const CallLimits* limits_;
    /// Callers that ask for more rows than this ask for many: columns are then faster than chunks.
    static constexpr std::size_t kOneByOne = 64;
    std::size_t cost_ = 1;
    std::size_t asked_ = 0;
    std::vector<std::uint64_t> admitted_;  // bit r % 64 of word r / 64; empty: one by one so far
    core::StepCounter steps_;
};

/// Terms of many rows, added per text field as integers: the sum does not depend on their order.
class LengthSum {
public:
    explicit LengthSum(const Schema& schema)
        : schema_(&schema), terms_(schema.text_fields.size()) {}

    template <class Terms>
    void add(const Terms& per_field) noexcept {
        for (std::size_t i = 0; i < terms_.size(); ++i) terms_[i] += per_field[i];
    }
    /// Each field's terms times its weight.
    double weighted() const noexcept { return index::weighted_length(*schema_, terms_); }

private:
    const Schema* schema_;
    std::vector<std::uint64_t> terms_;
};

}  // namespace braid::exact
