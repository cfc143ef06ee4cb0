#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

namespace braid {

/// Counts bytes that are held for a while, against a limit. What a budget takes is also taken from
/// its parent, `copies` times over; whatever has not been given back is given back when the budget
/// ends. Safe for concurrent use.
class ByteBudget {
public:
    enum class Taken { Yes, OverLimit, OverParent };

    explicit ByteBudget(std::size_t limit, std::shared_ptr<ByteBudget> parent = nullptr,
                        std::size_t copies = 1) noexcept
        : limit_(limit), parent_(std::move(parent)), copies_(copies) {}
    ByteBudget(const ByteBudget&) = delete;
    ByteBudget& operator=(const ByteBudget&) = delete;
    ByteBudget(ByteBudget&&) = delete;
    ByteBudget& operator=(ByteBudget&&) = delete;
    ~ByteBudget() {
        if (parent_) parent_->give_back(used() * copies_);
    }

    /// All of it or nothing.
    Taken take(std::size_t bytes) noexcept {
        std::size_t used = used_.load(std::memory_order_relaxed);
        do {
            if (bytes > limit_ - std::min(used, limit_)) return Taken::OverLimit;
        } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
        if (!parent_ || parent_->take(bytes * copies_) == Taken::Yes) return Taken::Yes;
        used_.fetch_sub(bytes, std::memory_order_relaxed);
        return Taken::OverParent;
    }
    /// For what exists already, whatever the limit.
    void take_anyway(std::size_t bytes) noexcept {
        used_.fetch_add(bytes, std::memory_order_relaxed);
        if (parent_) parent_->take_anyway(bytes * copies_);
    }
    /// Of what was taken.
    void give_back(std::size_t bytes) noexcept {
        used_.fetch_sub(bytes, std::memory_order_relaxed);
        if (parent_) parent_->give_back(bytes * copies_);
    }

    std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
    std::size_t limit() const noexcept { return limit_; }

    /// Counts from zero, with the same limit, parent and copies.
    std::shared_ptr<ByteBudget> another() const {
        return std::make_shared<ByteBudget>(limit_, parent_, copies_);
    }
    /// For what is held for a while and never copied: counts from zero, once, with the same parent;
    /// without a limit of its own unless one is given.
    std::shared_ptr<ByteBudget> apart(std::size_t limit = std::numeric_limits<std::size_t>::max() /
                                                          16) const {
        return std::make_shared<ByteBudget>(limit, parent_);
    }

private:
    const std::size_t limit_;
    const std::shared_ptr<ByteBudget> parent_;
    const std::size_t copies_;
    std::atomic<std::size_t> used_{0};
};

/// Bytes of a budget that are given back when this ends.
class HeldBytes {
public:
    explicit HeldBytes(std::shared_ptr<ByteBudget> budget) noexcept : budget_(std::move(budget)) {}
    HeldBytes(const HeldBytes&) = delete;
    HeldBytes& operator=(const HeldBytes&) = delete;
    HeldBytes(HeldBytes&&) = delete;
    HeldBytes& operator=(HeldBytes&&) = delete;
    ~HeldBytes() { budget_->give_back(bytes_); }

    /// Holds this many from now on; false, leaving it unchanged, if that is more than there is.
    bool grow_to(std::size_t bytes) noexcept {
        if (bytes <= bytes_) return true;
        if (budget_->take(bytes - bytes_) != ByteBudget::Taken::Yes) return false;
        bytes_ = bytes;
        return true;
    }
    void grow_anyway_to(std::size_t bytes) noexcept {
        if (bytes <= bytes_) return;
        budget_->take_anyway(bytes - bytes_);
        bytes_ = bytes;
    }
    std::size_t bytes() const noexcept { return bytes_; }

private:
    std::shared_ptr<ByteBudget> budget_;
    std::size_t bytes_ = 0;
};

}  // namespace braid
