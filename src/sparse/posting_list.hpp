#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>

namespace braid::sparse {

/// How often one text field of one version of a chunk holds a term. Along a list rows never
/// decrease, and within a row fields increase.
struct Posting {
    std::uint32_t row = 0;
    std::uint32_t field = 0;  // index into the schema's text fields
    std::uint32_t count = 0;

    friend bool operator==(const Posting&, const Posting&) = default;
};

/// The rows of one term, append only. One thread at a time may append while any number of others
/// read, without a lock: they see what was there when they began, or more.
class PostingList {
    struct Block {
        std::unique_ptr<Posting[]> postings;  // NOLINT: grown by hand
        std::size_t capacity = 0;
        std::unique_ptr<Block> next;
    };

public:
    class Iterator {
    public:
        using value_type = Posting;
        using difference_type = std::ptrdiff_t;

        Iterator() = default;
        const Posting& operator*() const noexcept { return block_->postings[index_]; }
        const Posting* operator->() const noexcept { return &**this; }
        Iterator& operator++() noexcept {
            if (--left_ > 0 && ++index_ == block_->capacity) {
                block_ = block_->next.get();
                index_ = 0;
            }
            return *this;
        }
        Iterator operator++(int) noexcept {
            Iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
            return a.left_ == b.left_;
        }
        friend bool operator==(const Iterator& a, std::default_sentinel_t) noexcept {
            return a.left_ == 0;
        }

    private:
        friend PostingList;
        Iterator(const Block* block, std::size_t left) noexcept : block_(block), left_(left) {}

        const Block* block_ = nullptr;
        std::size_t index_ = 0;
        std::size_t left_ = 0;
    };

    std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
    bool empty() const noexcept { return size() == 0; }
    Iterator begin() const noexcept { return {&first_, size()}; }
    static std::default_sentinel_t end() noexcept { return {}; }

    /// Requires a row larger than those before, or a larger field of the last row.
    void push_back(Posting posting) {
        if (used_ == last_->capacity) {
            Block* block = &first_;
            if (used_ > 0) {
                last_->next = std::make_unique<Block>();
                block = last_->next.get();
            }
            block->capacity = std::max<std::size_t>(2, size_.load(std::memory_order_relaxed));
            block->postings = std::make_unique<Posting[]>(block->capacity);
            last_ = block;
            used_ = 0;
        }
        last_->postings[used_++] = posting;
        size_.store(size_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    /// The first posting of the row, followed by the others; the end if the row is not in the list.
    /// Logarithmic.
    Iterator find(std::uint32_t row) const noexcept {
        std::size_t left = size();
        for (const Block* block = &first_; left > 0; block = block->next.get()) {
            const std::span part(block->postings.get(), std::min(left, block->capacity));
            if (row <= part.back().row) {
                const auto found = std::ranges::lower_bound(part, row, {}, &Posting::row);
                if (found->row != row) break;
                Iterator from(block, left);
                from.index_ = static_cast<std::size_t>(found - part.begin());
                from.left_ -= from.index_;
                return from;
            }
            left -= part.size();
        }
        return {};
    }

private:
    std::atomic<std::size_t> size_ = 0;
    Block first_;
    Block* last_ = &first_;  // the writer's, as is used_
    std::size_t used_ = 0;   // of the last block
};

/// Calls `use(row, tf)` for each row of the list, in row order; `tf` is the sum of its counts times
/// the fields' weights, added in field order. `use` returns false to stop.
template <class Use>
void for_each_row(const PostingList& list, std::span<const double> weights, const Use& use) {
    for (auto posting = list.begin(); posting != PostingList::end();) {
        const std::uint32_t row = posting->row;
        double tf = 0;
        for (; posting != PostingList::end() && posting->row == row; ++posting) {
            tf += weights[posting->field] * static_cast<double>(posting->count);
        }
        if (!use(row, tf)) return;
    }
}

}  // namespace braid::sparse
