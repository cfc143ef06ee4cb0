#include "braid/segment/deaths.hpp"

#include <algorithm>

namespace braid::segment {

void Deaths::add(std::uint32_t row, Sequence at) {
    auto* bits = bits_.load(std::memory_order_relaxed);
    if (bits == nullptr) {
        bits_owner_ = std::make_unique<std::atomic<std::uint64_t>[]>(rows_ / 64 + 1);
        bits = bits_owner_.get();
    }
    {
        const std::scoped_lock lock(since_mutex_);
        since_.emplace(row, at);
    }
    bits[row / 64].fetch_or(std::uint64_t{1} << (row % 64), std::memory_order_relaxed);
    bits_.store(bits, std::memory_order_release);
    deaths_.push_back(Death{row, at});
}

void Deaths::drop(Sequence at) noexcept {
    if (dropped_at() == kNever) dropped_at_.store(at, std::memory_order_release);
}

bool Deaths::dead(std::uint32_t row, Sequence at) const {
    if (dropped(at)) return true;
    const auto* bits = bits_.load(std::memory_order_acquire);
    if (bits == nullptr) return false;
    if ((bits[row / 64].load(std::memory_order_relaxed) >> (row % 64) & 1) == 0) return false;
    const std::scoped_lock lock(since_mutex_);
    const auto found = since_.find(row);
    return found != since_.end() && found->second <= at;
}

std::size_t Deaths::listed(Sequence at) const noexcept {
    std::size_t low = 0;
    for (std::size_t high = deaths_.size(); low < high;) {
        const std::size_t middle = low + (high - low) / 2;
        if (deaths_[middle].at <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

std::shared_ptr<const Bits> Deaths::live(Sequence at) const {
    if (dropped(at)) return std::make_shared<const Bits>(docs::make_bits(rows_));
    const std::size_t wanted = listed(at);
    if (wanted == 0) return nullptr;
    Mask base;
    {
        const std::scoped_lock lock(mask_mutex_);
        if (mask_.count == wanted) return mask_.live;
        if (mask_.count < wanted) base = mask_;
    }
    auto live = std::make_shared<Bits>();
    if (base.live) {
        *live = *base.live;
    } else {
        *live = docs::make_bits(rows_);
        docs::set_range(*live, {0, rows_});
    }
    for (std::size_t i = base.count; i < wanted; ++i) docs::clear_bit(*live, deaths_[i].row);
    const std::scoped_lock lock(mask_mutex_);
    if (mask_.count < wanted) mask_ = {wanted, live};
    return live;
}

Result<Deaths::Removed> Deaths::removed(const sparse::IndexReader& reader, Sequence at,
                                        const Expired& expired,
                                        const sparse::RemovedRows::TermsOfRow& terms_of) const {
    constexpr std::size_t kept = 4;
    const std::size_t died = listed(at);
    if (died == 0 && expired.count == 0) return Removed();
    const std::scoped_lock lock(removed_mutex_);
    auto nearest = removed_.end();  // the largest one that holds nothing unwanted
    const auto size = [](const Counted& one) { return one.dead + one.expired; };
    for (auto one = removed_.begin(); one != removed_.end(); ++one) {
        if (one->dead > died || one->expired > expired.count) continue;
        if (nearest == removed_.end() || size(*one) > size(*nearest)) nearest = one;
    }
    const Counted from = nearest == removed_.end() ? Counted() : *nearest;
    if (from.rows && from.dead == died && from.expired == expired.count) {
        std::rotate(nearest, nearest + 1, removed_.end());
        return from.rows;
    }
    auto rows = from.rows ? std::make_shared<sparse::RemovedRows>(*from.rows)
                          : std::make_shared<sparse::RemovedRows>();
    std::vector<std::uint32_t> fresh;
    // A row that is both dead and expired counts once, with whichever was counted first.
    for (std::uint64_t i = from.expired; i < expired.count; ++i) {
        BRAID_TRY(const std::uint64_t wide, expired.rows->at(i));
        const auto row = static_cast<std::uint32_t>(wide);
        if (from.dead > 0 && dead(row, deaths_[from.dead - 1].at)) continue;
        fresh.push_back(row);
    }
    for (std::size_t i = from.dead; i < died; ++i) {
        const std::uint32_t row = deaths_[i].row;
        if (expired.count > 0 && !docs::has_bit(*expired.others, row)) continue;
        fresh.push_back(row);
    }
    BRAID_CHECK(rows->add(reader, fresh, terms_of));
    if (removed_.size() == kept) removed_.erase(removed_.begin());
    removed_.push_back({died, expired.count, rows});
    return Removed(std::move(rows));
}

}  // namespace braid::segment
