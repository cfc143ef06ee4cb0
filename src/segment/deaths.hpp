#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "braid/core/stable_vector.hpp"
#include "braid/docs/column.hpp"
#include "braid/index/prepared.hpp"
#include "braid/result.hpp"
#include "braid/sparse/index_reader.hpp"
#include "braid/sparse/index_statistics.hpp"

namespace braid::segment {

using docs::Bits;
using index::Sequence;

/// What BM25 must know of some rows, per term of a query.
struct PartStatistics {
    sparse::VisibleTotals totals;
    std::vector<std::uint64_t> frequencies;  // one per term asked for
};

/// Which rows of a part are deleted or replaced, and since when. One thread at a time may add while
/// any number of others read: each sees what its own point in time shows.
class Deaths {
public:
    struct Death {
        std::uint32_t row = 0;
        Sequence at = 0;
    };

    explicit Deaths(std::uint64_t rows) : rows_(rows) {}

    /// Requires a row that is alive, and a sequence number not below those before.
    void add(std::uint32_t row, Sequence at);

    bool dead(std::uint32_t row, Sequence at) const;
    /// How many of all deaths have happened by then; the first so many are those.
    std::size_t count(Sequence at) const noexcept;
    std::size_t size() const noexcept { return deaths_.size(); }
    const Death& operator[](std::size_t i) const noexcept { return deaths_[i]; }

    /// The rows that live by then; null: all of them. Costs a copy if it was last asked for another
    /// time.
    std::shared_ptr<const Bits> live(Sequence at) const;

    /// Statistics of the rows that live by then and whose labels are visible.
    Result<PartStatistics> statistics(const sparse::IndexReader& reader,
                                      const sparse::LabelPredicate& visible, Sequence at,
                                      const std::vector<std::string>& terms) const;
    /// Every term that such a row holds, in byte order.
    Result<> each_term(const sparse::IndexReader& reader, const sparse::LabelPredicate& visible,
                       Sequence at,
                       const std::function<void(std::string_view, std::uint64_t)>& visit) const;

private:
    /// Counts what came since; then `read()` with a lock that keeps the counts as they are.
    template <class Read>
    auto counted(const sparse::IndexReader& reader,
                 const Read& read) const -> decltype(read(std::size_t{}));

    const std::uint64_t rows_;
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

    mutable std::shared_mutex removed_mutex_;
    mutable sparse::RemovedRows removed_;
    mutable std::size_t removed_count_ = 0;
};

}  // namespace braid::segment
