#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "braid/sparse/query_bounds.hpp"

namespace braid::sparse {

/// Where a window lies.
struct WindowSpan {
    std::uint32_t number;
    std::uint32_t base;         // its first row
    std::size_t padded;         // accumulators: rows, up to a multiple of 64
    const std::uint64_t* mask;  // its allowed rows; null: all
};

/// A row that may be among the best.
struct Candidate {
    double bound;
    std::uint32_t row;
};

/// Room for one search at a time: one per thread, reused by the next search.
struct WindowScratch {
    struct RunRange {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
    };

    alignas(64) std::array<std::uint8_t, kWindowRows> sums{};
    std::array<std::uint8_t, kWindowRows> slots{};  // all 0 between calls
    std::array<std::uint8_t, kWindowRows / 8> maxima{};
    std::array<std::uint16_t, kWindowRows> touched{};
    std::array<std::uint16_t, kWindowRows> candidates{};
    std::array<std::uint8_t, kWindowRows> bytes{};  // of touched rows
    const std::uint8_t* classes = nullptr;          // of the lengths of the window's existing rows
    std::array<std::uint8_t, std::size_t{256} * 32> tfs{};  // by term and slot
    std::array<RunRange, kMostBoundedTerms> runs{};         // of the window entered
    std::array<bool, kMostBoundedTerms> added{};            // terms included in the sums
    std::vector<Candidate> pending;
    std::array<std::uint16_t, kWindowRows> places{};  // in pending, from 1; all 0 between calls
    std::vector<double> norms;                        // by place: of the row's length
    std::vector<double> refined;                      // by place: a bound of the row's score
    const QueryBounds* of = nullptr;                  // whose runs they are
    std::uint32_t entered = 0;                        // the first row of that window
    bool clean = true;                                // all sums are 0

    /// Call before the first window of a query.
    void begin(const QueryBounds& bounds) noexcept;
    /// Finds the part of each run that lies in the window. Cheap when windows come one after
    /// another.
    void enter(const QueryBounds& bounds, const WindowSpan& window) noexcept;
    void clear_sums() noexcept {
        if (!clean) std::memset(sums.data(), 0, sums.size());
        clean = true;
    }
};

/// The calling thread's.
WindowScratch& thread_scratch();

}  // namespace braid::sparse
