#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/sparse/index_reader.hpp"

namespace braid::sparse {

/// Which labels a principal may see.
using LabelPredicate = std::function<bool(std::uint32_t label)>;

/// What rows that were deleted, or are hidden for another reason, take away from the statistics of
/// an index. Their own terms say it, so nothing is counted again.
class RemovedRows {
public:
    /// Each row once. Requires row < reader.rows(), and the same index in all calls.
    Result<> add(const IndexReader& reader, std::uint32_t row);

    /// By number of the label.
    const std::map<std::uint32_t, LabelFacts>& labels() const noexcept { return labels_; }
    /// The labels of the rows with a term: pairs of (number of a label, rows).
    const std::map<std::uint32_t, std::uint32_t>* by_label(std::uint32_t term) const noexcept;

private:
    std::map<std::uint32_t, LabelFacts> labels_;
    std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> terms_;
};

/// Rows and lengths that a principal may see.
struct VisibleTotals {
    std::uint64_t rows = 0;
    std::array<std::uint64_t, kMaxFields> total_lengths{};
};

/// Statistics of one index for one principal, without a walk over its rows: sums over labels.
/// Those of several indexes add up.
class IndexStatistics {
public:
    /// Asks `visible` once per label. `removed` may be null, and must stay.
    static Result<IndexStatistics> create(const IndexReader& reader, const LabelPredicate& visible,
                                          const RemovedRows* removed);

    const VisibleTotals& totals() const noexcept { return totals_; }
    /// Visible rows that hold the term.
    Result<std::uint64_t> document_frequency(std::string_view term) const;
    /// Every term that a visible row holds, in byte order: what Okapi's mean idf is made from.
    Result<> each(const std::function<void(std::string_view term, std::uint64_t df)>& visit) const;

private:
    explicit IndexStatistics(const IndexReader& reader, const RemovedRows* removed) noexcept
        : reader_(&reader), removed_(removed) {}
    Result<std::uint64_t> document_frequency(const TermEntry& entry) const;
    Result<std::uint64_t> stored_frequency(const TermEntry& entry) const;

    const IndexReader* reader_;
    const RemovedRows* removed_;
    VisibleTotals totals_;
    std::vector<bool> visible_;  // by number of the label
    bool all_ = true;
    bool none_ = true;
};

}  // namespace braid::sparse
