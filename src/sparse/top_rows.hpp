#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "braid/sparse/query.hpp"

namespace braid::sparse {

/// Where rows with exact scores go, each once.
class RowSink {
public:
    virtual ~RowSink() = default;

    /// Scores below it need not be offered. It never falls.
    virtual double threshold() const noexcept = 0;
    virtual void offer(ScoredRow row) = 0;
    /// All rows of the first `done` of `all` windows that reach the threshold were offered.
    virtual void progressed(std::uint32_t done, std::uint32_t all) {
        static_cast<void>(done);
        static_cast<void>(all);
    }
};

/// The best rows offered so far. Rows with a score of 0 or less, below the threshold, or not worse
/// than `after` are no hits.
class TopRows final : public RowSink {
public:
    TopRows(std::size_t k, double threshold, std::optional<ScoredRow> after)
        : k_(k), threshold_(threshold), after_(after) {}

    double threshold() const noexcept override { return threshold_; }
    bool full() const noexcept { return rows_.size() == k_; }

    void offer(ScoredRow row) override {
        if (!(row.score > 0) || row.score < threshold_ || k_ == 0) return;
        if (after_ && !better(*after_, row)) return;
        if (full()) {
            if (!better(row, rows_.front())) return;
            std::ranges::pop_heap(rows_, kBetterRow);
            rows_.back() = row;
        } else {
            rows_.push_back(row);
        }
        std::ranges::push_heap(rows_, kBetterRow);
        if (full()) threshold_ = std::max(threshold_, rows_.front().score);
    }

    std::span<const ScoredRow> rows() const noexcept { return rows_; }
    /// Best first.
    std::vector<ScoredRow> take() && {
        std::ranges::sort(rows_, kBetterRow);
        return std::move(rows_);
    }

private:
    std::size_t k_;
    double threshold_;
    std::optional<ScoredRow> after_;
    std::vector<ScoredRow> rows_;  // a heap, the worst in front
};

}  // namespace braid::sparse
