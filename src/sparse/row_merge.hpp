#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "braid/sparse/term_source.hpp"

namespace braid::sparse {

/// Rows of one term that arrive as several increasing sequences, merged into one.
class RowMerge {
public:
    explicit RowMerge(std::uint32_t fields) noexcept : fields_(fields) {}

    void clear() noexcept {
        rows_.clear();
        counts_.clear();
        runs_.clear();
    }
    /// Adds a row that was not there before, with counts that are all 0; the caller may change them
    /// until the next call.
    std::uint32_t* add(std::uint32_t row) {
        if (rows_.empty() || row < rows_.back()) runs_.push_back(rows_.size());
        rows_.push_back(row);
        counts_.resize(counts_.size() + fields_);
        return counts_.data() + counts_.size() - fields_;
    }
    std::size_t size() const noexcept { return rows_.size(); }

    /// In increasing order; valid until the next change.
    CountedRows sorted() {
        if (runs_.size() <= 1) return {rows_, counts_};
        keys_.resize(rows_.size());
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            keys_[i] = static_cast<std::uint64_t>(rows_[i]) << 32 | i;
        }
        if (runs_.size() > kFewRuns) {
            std::ranges::sort(keys_);
        } else {
            merge_runs();
        }
        sorted_rows_.resize(rows_.size());
        sorted_counts_.resize(counts_.size());
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            sorted_rows_[i] = static_cast<std::uint32_t>(keys_[i] >> 32);
            const std::size_t from = (keys_[i] & 0xFFFFFFFF) * fields_;
            for (std::uint32_t f = 0; f < fields_; ++f) {
                sorted_counts_[i * fields_ + f] = counts_[from + f];
            }
        }
        return {sorted_rows_, sorted_counts_};
    }

private:
    static constexpr std::size_t kFewRuns = 256;

    /// Neighbouring runs are merged in pairs until one is left.
    void merge_runs() {
        runs_.push_back(keys_.size());
        merged_.resize(keys_.size());
        while (runs_.size() > 2) {
            std::size_t left = 0;
            std::size_t run = 0;
            for (; run + 2 < runs_.size(); run += 2) {
                const auto begin = keys_.begin();
                std::merge(begin + offset(run), begin + offset(run + 1), begin + offset(run + 1),
                           begin + offset(run + 2), merged_.begin() + offset(run));
                runs_[left++] = runs_[run];
            }
            if (run + 1 < runs_.size()) {
                std::copy(keys_.begin() + offset(run), keys_.end(), merged_.begin() + offset(run));
                runs_[left++] = runs_[run];
            }
            runs_[left++] = keys_.size();
            runs_.resize(left);
            keys_.swap(merged_);
        }
    }
    std::ptrdiff_t offset(std::size_t run) const noexcept {
        return static_cast<std::ptrdiff_t>(runs_[run]);
    }

    std::uint32_t fields_;
    std::vector<std::uint32_t> rows_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::size_t> runs_;  // where increasing sequences begin
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint64_t> merged_;
    std::vector<std::uint32_t> sorted_rows_;
    std::vector<std::uint32_t> sorted_counts_;
};

}  // namespace braid::sparse
