#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace braid::core {

/// A sequence that only grows and whose elements never move. One thread at a time may append while
/// any number of others read, without a lock: an element is complete before size() counts it.
///
/// An element is one T, or a row of `width` of them.
template <class T>
class StableVector {
public:
    explicit StableVector(std::size_t width = 1) noexcept : width_(width) {}

    std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }

    // Each requires index < size(), as seen by the calling thread.
    const T& operator[](std::size_t index) const noexcept { return *place(index); }
    /// For what may change after it was appended: atomics, or data that readers do not look at.
    T& operator[](std::size_t index) noexcept { return *place(index); }
    std::span<const T> row(std::size_t index) const noexcept { return {place(index), width_}; }

    template <class Value>
    void push_back(Value&& value) {
        const std::size_t index = size_.load(std::memory_order_relaxed);
        *reserve(index) = std::forward<Value>(value);
        size_.store(index + 1, std::memory_order_release);
    }
    /// Requires `width` values.
    void push_row(std::span<const T> values) {
        const std::size_t index = size_.load(std::memory_order_relaxed);
        std::ranges::copy(values, reserve(index));
        size_.store(index + 1, std::memory_order_release);
    }

private:
    // Blocks of 16, 16, 32, 64, ... elements.
    static constexpr std::size_t kFirst = 16;
    static constexpr std::size_t kBlocks = 36;

    static std::size_t block_of(std::size_t index) noexcept {
        return static_cast<std::size_t>(std::bit_width(index / kFirst));
    }
    static std::size_t start_of_block(std::size_t index) noexcept {
        return std::bit_floor(index & ~(kFirst - 1));
    }
    T* place(std::size_t index) const noexcept {
        return blocks_[block_of(index)].get() + (index - start_of_block(index)) * width_;
    }
    T* reserve(std::size_t index) {
        auto& block = blocks_[block_of(index)];
        if (!block) {
            block = std::make_unique<T[]>(std::max(kFirst, start_of_block(index)) * width_);
        }
        return place(index);
    }

    std::size_t width_;
    std::atomic<std::size_t> size_ = 0;
    std::array<std::unique_ptr<T[]>, kBlocks> blocks_;  // NOLINT: grown by hand
};

}  // namespace braid::core
