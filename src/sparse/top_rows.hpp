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

/// Receives rows with exact scores, each once.
class RowSink {
public:
    virtual ~RowSink() = default;

    /// Scores below this need not be offered. It never falls.
    virtual double threshold() const noexcept = 0;
    virtual void offer(ScoredRow row) = 0;
    /// Tells that all rows of the first `done` of `all` windows that reach the threshold were
    /// offered.
    virtual void progressed(std::uint32_t done, std::uint32_t all) {
        static_cast<void>(done);
        static_cast<void>(all);
    }
};

/// The best rows offered so far. Rows with a score of 0 or less, below the threshold, or not worse
/// than `after` are not hits.
class TopRows final : public RowSink {
public:
    TopRows(std::size_t k, double threshold, std::optional<ScoredRow> after)
        : k_(k), threshold_(threshold), after_(after) {}

    /// With many rows it may rise slightly later than it could.
    double threshold() const noexcept override { return threshold_; }
    bool full() const noexcept { return rows_.size() >= k_; }

    void offer(ScoredRow row) override {
        if (!(row.score > 0) || row.score < threshold_ || k_ == 0) return;
        if (after_ && !better(*after_, row)) return;
        if (k_ > kMostInHeap) return collect(row);
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

    /// The best k, and perhaps some more.
    std::span<const ScoredRow> rows() const noexcept { return rows_; }
    /// The score of the worst of the best k; 0 if there are none. Requires full().
    double worst() {
        if (rows_.empty()) return 0;
        if (k_ > kMostInHeap) shrink();
        return k_ > kMostInHeap ? rows_[k_ - 1].score : rows_.front().score;
    }
    /// Best first.
    std::vector<ScoredRow> take() && {
        std::ranges::sort(rows_, kBetterRow);
        if (rows_.size() > k_) rows_.resize(k_);
        return std::move(rows_);
    }

private:
    /// Beyond this many, rows are collected and cut back to k now and then, which moves each of
    /// them fewer times.
    static constexpr std::size_t kMostInHeap = 32;

    void collect(ScoredRow row) {
        rows_.push_back(row);
        if (rows_.size() == k_ || rows_.size() >= k_ + k_ / 2) shrink();
    }
    /// Keeps the best k, with the worst of them at the end.
    void shrink() {
        const auto last = rows_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
        std::ranges::nth_element(rows_, last, kBetterRow);
        rows_.resize(k_);
        threshold_ = std::max(threshold_, rows_.back().score);
    }

    std::size_t k_;
    double threshold_;
    std::optional<ScoredRow> after_;
    std::vector<ScoredRow> rows_;  // up to kMostInHeap a heap, the worst in front
};

}  // namespace braid::sparse
