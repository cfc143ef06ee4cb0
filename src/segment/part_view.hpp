#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/segment/segment.hpp"
#include "braid/text/analyzer.hpp"
#include "braid/types.hpp"

namespace braid::segment {

/// What a principal sees of a part at one point in time, through a filter. Masks are made when they
/// are first needed. For one thread at a time.
class PartView {
public:
    /// `labels`, by number: which are visible; null: all are. The arguments must outlive it.
    PartView(std::shared_ptr<const Segment> segment, const Segment::Space& space,
             std::shared_ptr<const Part> part, Sequence at, Timestamp now,
             const std::vector<bool>* labels, const Filter* filter, const Schema& schema,
             const text::Analyzer& analyzer, const CallLimits& limits)
        : segment_(std::move(segment)),
          space_(&space),
          part_(std::move(part)),
          at_(at),
          now_(now),
          labels_(labels),
          filter_(filter),
          schema_(&schema),
          analyzer_(&analyzer),
          limits_(&limits) {}

    const Part& part() const noexcept { return *part_; }
    const Deaths& deaths() const noexcept { return space_->deaths; }
    Result<> check_limits() const;

    /// Rows that can be seen, and those among them that the filter admits; null: all rows.
    Result<BitsPtr> visible() const;
    Result<BitsPtr> allowed() const;
    /// How many rows a mask of this part has.
    std::uint64_t count(const BitsPtr& mask) const noexcept;

    bool shows_label(std::uint32_t label) const noexcept {
        return labels_ == nullptr || (label < labels_->size() && (*labels_)[label]);
    }
    /// Whether a row can be seen.
    Result<bool> shows(std::uint32_t row) const;
    /// The row of a visible chunk.
    Result<std::optional<std::uint32_t>> find(const std::string& id) const;

    /// Statistics of the words of the rows that can be seen, whatever the filter says. Valid as
    /// long as this.
    Result<sparse::IndexStatistics> statistics() const;

    /// Calls `use(row)`, which returns a Result<>, for each row of a mask, checking the limits on
    /// the way.
    template <class Use>
    Result<> for_each(const BitsPtr& mask, const Use& use) const;

private:
    Result<const Deaths::Expired*> expired() const;

    std::shared_ptr<const Segment> segment_;
    const Segment::Space* space_;
    std::shared_ptr<const Part> part_;
    Sequence at_;
    Timestamp now_;
    const std::vector<bool>* labels_;
    const Filter* filter_;
    const Schema* schema_;
    const text::Analyzer* analyzer_;
    const CallLimits* limits_;
    mutable std::optional<Deaths::Expired> expired_;
    mutable std::optional<Deaths::Removed> removed_;
    mutable std::optional<BitsPtr> visible_;
    mutable std::optional<BitsPtr> allowed_;
};

}  // namespace braid::segment

#include "braid/core/limits.hpp"

namespace braid::segment {

inline Result<> PartView::check_limits() const {
    return core::check_limits(*limits_);
}

template <class Use>
Result<> PartView::for_each(const BitsPtr& mask, const Use& use) const {
    core::StepCounter steps;
    const std::uint32_t rows = part_->rows();
    if (!mask) {
        for (std::uint32_t row = 0; row < rows; ++row) {
            if (steps.due()) BRAID_CHECK(core::check_limits(*limits_));
            BRAID_CHECK(use(row));
        }
        return {};
    }
    for (std::size_t w = 0; w < mask->size(); ++w) {
        if (steps.due()) BRAID_CHECK(core::check_limits(*limits_));
        for (std::uint64_t word = (*mask)[w]; word != 0; word &= word - 1) {
            if (steps.due()) BRAID_CHECK(core::check_limits(*limits_));
            BRAID_CHECK(use(static_cast<std::uint32_t>(w * 64) +
                            static_cast<std::uint32_t>(__builtin_ctzll(word))));
        }
    }
    return {};
}

}  // namespace braid::segment
