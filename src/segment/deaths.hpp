#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "braid/core/stable_vector.hpp"
#include "braid/docs/column.hpp"
#include "braid/docs/packed_ints.hpp"
#include "braid/index/prepared.hpp"
#include "braid/result.hpp"
#include "braid/sparse/index_reader.hpp"
#include "braid/sparse/index_statistics.hpp"

namespace braid::segment {

using docs::Bits;
using index::Sequence;

/// Which rows of a part were deleted or replaced, and when. One thread at a time may add while any
/// number of others read: each sees its own point in time.
class Deaths {
public:
    struct Death {
        std::uint32_t row = 0;
        Sequence at = 0;
    };

    explicit Deaths(std::uint64_t rows) : rows_(rows) {}

    /// Requires a live row, and a sequence number no lower than those before.
    void add(std::uint32_t row, Sequence at);

    /// The namespace is dropped: all rows die at once, and none is added afterwards. Does nothing
    /// the second time.
    void drop(Sequence at) noexcept;
    /// When that was; kNever if it has not happened.
    static constexpr Sequence kNever = std::numeric_limits<Sequence>::max();
    Sequence dropped_at() const noexcept { return dropped_at_.load(std::memory_order_acquire); }
    bool dropped(Sequence at) const noexcept {
        const Sequence since = dropped_at();
        return since != kNever && since <= at;
    }

    bool dead(std::uint32_t row, Sequence at) const;
    /// How many rows had died by then.
    std::size_t count(Sequence at) const noexcept {
        return dropped(at) ? static_cast<std::size_t>(rows_) : listed(at);
    }
    /// How many of them died one by one: the first so many entries.
    std::size_t listed(Sequence at) const noexcept;
    std::size_t size() const noexcept { return deaths_.size(); }
    const Death& operator[](std::size_t i) const noexcept { return deaths_[i]; }

    /// The rows still alive by then; null: all of them. Copies if the last call asked for another
    /// time.
    std::shared_ptr<const Bits> live(Sequence at) const;

    /// Rows that are gone because they expired, dead ones among them.
    struct Expired {
        const docs::PackedInts* rows = nullptr;  // soonest to expire first
        std::uint64_t count = 0;                 // how many of them
        std::shared_ptr<const Bits> others;      // all rows but those; null with a count of 0
    };
    /// What the rows that had died or expired by then take away from the term statistics; null:
    /// nothing. Requires that the namespace was not dropped by then. Counts on from the times asked
    /// for last.
    using Removed = std::shared_ptr<const sparse::RemovedRows>;
    Result<Removed> removed(const sparse::IndexReader& reader, Sequence at, const Expired& expired,
                            const sparse::RemovedRows::TermsOfRow& terms_of) const;

private:
    const std::uint64_t rows_;
    std::atomic<Sequence> dropped_at_ = kNever;
    core::StableVector<Death> deaths_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> bits_owner_;  // NOLINT: grown by hand
    std::atomic<std::atomic<std::uint64_t>*> bits_ = nullptr;   // of the dead; null: none

    mutable std::mutex since_mutex_;
    std::unordered_map<std::uint32_t, Sequence> since_;

    struct Mask {
        std::size_t count = 0;
        std::shared_ptr<const Bits> live;
    };
    mutable std::mutex mask_mutex_;
    mutable Mask mask_;

    struct Counted {
        std::size_t dead = 0;
        std::uint64_t expired = 0;
        Removed rows;
    };
    mutable std::mutex removed_mutex_;
    mutable std::vector<Counted> removed_;  // a few, the one asked for last at the end
};

}  // namespace braid::segment
