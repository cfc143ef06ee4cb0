#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "braid/sparse/query_bounds.hpp"
#include "braid/sparse/window_scratch.hpp"

namespace braid::sparse {

/// Rows that hold all of some terms, window by window, with what the lists say about them: the
/// shortest list is walked, the others are merged with it or looked up in.
class JointRows {
public:
    static constexpr std::size_t kMostTerms = 8;

    /// `terms`: 1 to kMostTerms numbers of terms of the bounds, each once. The arguments must
    /// outlive this, and a thread may have only one such search at a time.
    JointRows(const IndexReader& reader, const RowFacts& facts, const QueryBounds& bounds,
              std::span<const std::size_t> terms);

    /// The rows of a window, ascending, that have term i at least least[i] times and that `mask`
    /// allows: one bit per row of the whole index; empty: all are allowed. 1 <= least <= kTopTf.
    /// Valid until the next call.
    std::span<const std::uint16_t> find(std::uint32_t window, std::span<const std::uint8_t> least,
                                        std::span<const std::uint64_t> mask);
    /// A RowCode for each row found, for the i-th of the terms.
    std::span<const std::uint8_t> codes(std::size_t i) const noexcept {
        return {codes_[i].data(), found_};
    }

private:
    /// What a term has in the window.
    struct Part {
        const std::uint8_t* rows = nullptr;   // u16 each
        const std::uint8_t* codes = nullptr;  // a RowCode each
        std::size_t size = 0;
        const std::uint8_t* nibbles = nullptr;  // of the window's rows; otherwise a list
        const ListView* gaps = nullptr;         // a list whose rows have not been spelt out yet
    };
    struct Run {
        std::vector<std::uint16_t> rows;  // in their windows
        std::vector<std::uint8_t> codes;
    };

    Part part_of(std::size_t term, std::uint32_t window) const noexcept;
    /// Spells out the rows of a list of gaps.
    const Part& spelt(std::size_t term);
    void begin_with_list(std::size_t term, std::uint32_t least,
                         std::span<const std::uint64_t> mask);
    void begin_with_columns(std::span<const std::uint8_t> least,
                            std::span<const std::uint64_t> mask);
    void keep_in_list(std::size_t term, std::uint32_t least);
    /// Those of the rows found that a much longer list has too; returns how many.
    std::size_t look_up(const Part& part);
    std::size_t merge(const Part& part);
    void keep_in_column(std::size_t term, std::uint32_t least);
    /// Keeps only the rows found at the places `kept_` (ascending); `count` says how many.
    void keep(std::size_t count) noexcept;

    const IndexReader& reader_;
    const RowFacts& facts_;
    const QueryBounds& bounds_;
    WindowScratch& scratch_;
    std::vector<std::size_t> terms_;
    std::vector<Run> runs_;   // of each term that is a run
    std::vector<Run> spelt_;  // of lists of gaps, in the window
    std::array<Part, kMostTerms> parts_{};
    std::uint32_t window_ = 0;
    std::uint32_t rows_ = 0;  // of the window
    std::size_t found_ = 0;
    std::vector<std::size_t> order_;  // the shortest list of the window first, columns last
    std::vector<std::size_t> done_;   // terms whose codes have been read
    std::vector<std::uint16_t> local_;
    std::vector<std::uint16_t> kept_;
    std::vector<std::uint32_t> entries_;  // of the list, for each of kept_
    std::array<std::vector<std::uint8_t>, kMostTerms> codes_;
};

}  // namespace braid::sparse
