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

bool Deaths::dead(std::uint32_t row, Sequence at) const {
    const auto* bits = bits_.load(std::memory_order_acquire);
    if (bits == nullptr) return false;
    if ((bits[row / 64].load(std::memory_order_relaxed) >> (row % 64) & 1) == 0) return false;
    const std::scoped_lock lock(since_mutex_);
    const auto found = since_.find(row);
    return found != since_.end() && found->second <= at;
}

std::size_t Deaths::count(Sequence at) const noexcept {
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
    const std::size_t wanted = count(at);
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

template <class Read>
auto Deaths::counted(const sparse::IndexReader& reader,
                     const Read& read) const -> decltype(read(std::size_t{})) {
    {
        const std::shared_lock lock(removed_mutex_);
        if (removed_count_ == deaths_.size()) return read(removed_count_);
    }
    const std::unique_lock lock(removed_mutex_);
    for (const std::size_t all = deaths_.size(); removed_count_ < all; ++removed_count_) {
        BRAID_CHECK(removed_.add(reader, deaths_[removed_count_].row));
    }
    return read(removed_count_);
}

Result<PartStatistics> Deaths::statistics(const sparse::IndexReader& reader,
                                          const sparse::LabelPredicate& visible, Sequence at,
                                          const std::vector<std::string>& terms) const {
    PartStatistics found;
    const auto read = [&](const sparse::RemovedRows* removed) -> Result<> {
        BRAID_TRY(const auto statistics, sparse::IndexStatistics::create(reader, visible, removed));
        found.totals = statistics.totals();
        for (const std::string& term : terms) {
            BRAID_TRY(const std::uint64_t df, statistics.document_frequency(term));
            found.frequencies.push_back(df);
        }
        return {};
    };
    if (deaths_.size() == 0) {
        BRAID_CHECK(read(nullptr));
        return found;
    }
    std::size_t all = 0;
    BRAID_CHECK(counted(reader, [&](std::size_t deaths) {
        all = deaths;
        return read(&removed_);
    }));
    // Those that came later are alive to who looks at an earlier point in time.
    const std::size_t since = count(at);
    if (since >= all) return found;
    BRAID_TRY(const sparse::RowFacts facts, reader.row_facts());
    std::vector<std::uint32_t> ids;
    for (const std::string& term : terms) {
        BRAID_TRY(const auto entry, reader.dictionary().find(term));
        ids.push_back(entry ? entry->id : sparse::ListCursor::kEnd);
    }
    for (std::size_t i = since; i < all; ++i) {
        const std::uint32_t row = deaths_[i].row;
        BRAID_TRY(const std::uint32_t label, reader.label_of(row));
        if (!visible(label)) continue;
        ++found.totals.rows;
        for (std::size_t f = 0; f < reader.fields(); ++f) {
            found.totals.total_lengths[f] += facts.length(row, f);
        }
        BRAID_TRY(sparse::ForwardCursor cursor, facts.terms(row));
        while (cursor.next()) {
            for (std::size_t t = 0; t < ids.size(); ++t) {
                if (ids[t] == cursor.term()) ++found.frequencies[t];
            }
        }
    }
    return found;
}

Result<> Deaths::each_term(
    const sparse::IndexReader& reader, const sparse::LabelPredicate& visible, Sequence at,
    const std::function<void(std::string_view, std::uint64_t)>& visit) const {
    if (deaths_.size() == 0) {
        BRAID_TRY(const auto statistics, sparse::IndexStatistics::create(reader, visible, nullptr));
        return statistics.each(visit);
    }
    if (count(at) == deaths_.size()) {
        std::size_t all = 0;
        BRAID_CHECK(counted(reader, [&](std::size_t deaths) -> Result<> {
            all = deaths;
            if (count(at) < all) return {};
            BRAID_TRY(const auto statistics,
                      sparse::IndexStatistics::create(reader, visible, &removed_));
            return statistics.each(visit);
        }));
        if (count(at) >= all) return {};
    }
    // Of an earlier point in time: its own counts, made for this once.
    sparse::RemovedRows earlier;
    for (std::size_t i = 0; i < count(at); ++i) BRAID_CHECK(earlier.add(reader, deaths_[i].row));
    BRAID_TRY(const auto statistics, sparse::IndexStatistics::create(reader, visible, &earlier));
    return statistics.each(visit);
}

}  // namespace braid::segment
