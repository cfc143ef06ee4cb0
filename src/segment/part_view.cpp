#include "braid/segment/part_view.hpp"

#include <utility>

#include "braid/dense/code_scan.hpp"
#include "braid/index/prepared.hpp"

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

Result<const Deaths::Expired*> PartView::expired() const {
    if (expired_) return &*expired_;
    Deaths::Expired found;
    found.rows = &part_->documents().expiring_rows();
    BRAID_TRY(found.count, part_->documents().expired(now_));
    BRAID_TRY(found.others, part_->unexpired(found.count));
    expired_ = std::move(found);
    return &*expired_;
}

Result<BitsPtr> PartView::visible() const {
    if (visible_) return *visible_;
    BRAID_TRY(const Deaths::Expired* const gone, expired());
    BitsPtr mask = both(space_->deaths.live(at_), gone->others);
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
    return mask ? dense::count_allowed(*mask, 64 * mask->size()) : part_->rows();
}

Result<bool> PartView::shows(std::uint32_t row) const {
    if (space_->deaths.dead(row, at_)) return false;
    BRAID_TRY(const Deaths::Expired* const gone, expired());
    if (gone->others && !docs::has_bit(*gone->others, row)) return false;
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
        BRAID_TRY(const Deaths::Expired* const gone, expired());
        const auto terms_of = [this](std::uint32_t row) -> Result<std::vector<std::string>> {
            BRAID_TRY(const Chunk chunk, part_->chunk(row, false));
            index::PreparedText text = index::count_terms(chunk, *schema_, *analyzer_);
            std::vector<std::string> terms;  // each once
            for (sparse::TermCount& one : text.terms) {
                if (terms.empty() || terms.back() != one.term) terms.push_back(std::move(one.term));
            }
            return terms;
        };
        BRAID_TRY(removed_, space_->deaths.removed(part_->words(), at_, *gone, terms_of));
    }
    sparse::LabelPredicate visible;  // none: all are
    if (labels_ != nullptr) visible = [this](std::uint32_t label) { return shows_label(label); };
    return sparse::IndexStatistics::create(part_->words(), visible, removed_->get());
}

}  // namespace braid::segment
