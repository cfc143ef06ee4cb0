#include "braid/segment/part_view.hpp"

#include <bit>
#include <utility>

namespace braid::segment {
namespace {

/// Rows in both; null stands for all.
BitsPtr both(BitsPtr a, BitsPtr b) {
    if (!a) return b;
    if (!b) return a;
    auto rows = std::make_shared<Bits>(*a);
    for (std::size_t i = 0; i < rows->size(); ++i) (*rows)[i] &= (*b)[i];
    return rows;
}

}  // namespace

Result<BitsPtr> PartView::visible() const {
    if (visible_) return *visible_;
    BitsPtr mask = space_->deaths.live(at_);
    if (labels_ != nullptr) {
        BRAID_TRY(BitsPtr labelled, part_->labelled(*labels_, *limits_));
        mask = both(std::move(mask), std::move(labelled));
    }
    visible_ = mask;
    return mask;
}

Result<BitsPtr> PartView::allowed() const {
    BRAID_CHECK(core::check_limits(*limits_));
    if (allowed_) return *allowed_;
    BRAID_TRY(BitsPtr mask, visible());
    if (filter_ != nullptr) {
        BRAID_TRY(BitsPtr matching, part_->matching(*filter_, *schema_, *limits_));
        mask = both(std::move(mask), std::move(matching));
    }
    allowed_ = mask;
    return mask;
}

std::uint64_t PartView::count(const BitsPtr& mask) const noexcept {
    if (!mask) return part_->rows();
    std::uint64_t rows = 0;
    for (const std::uint64_t word : *mask) rows += static_cast<unsigned>(std::popcount(word));
    return rows;
}

Result<bool> PartView::shows(std::uint32_t row) const {
    if (space_->deaths.dead(row, at_)) return false;
    if (labels_ == nullptr) return true;
    BRAID_TRY(const std::uint64_t label, part_->documents().labels().at(row));
    return shows_label(static_cast<std::uint32_t>(label));
}

Result<std::optional<std::uint32_t>> PartView::find(const std::string& id) const {
    BRAID_TRY(const auto row, part_->documents().find(id));
    if (!row) return std::optional<std::uint32_t>();
    const auto number = static_cast<std::uint32_t>(*row);
    BRAID_TRY(const bool seen, shows(number));
    return seen ? std::optional(number) : std::nullopt;
}

Result<sparse::IndexStatistics> PartView::statistics() const {
    if (!removed_) {
        BRAID_TRY(removed_, space_->deaths.removed(part_->words(), at_));
    }
    return sparse::IndexStatistics::create(
        part_->words(), [this](std::uint32_t label) { return shows_label(label); },
        removed_->get());
}

}  // namespace braid::segment
