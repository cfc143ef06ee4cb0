#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "braid/sparse/counted_list.hpp"
#include "braid/sparse/decoded_list.hpp"
#include "braid/sparse/index_format.hpp"
#include "braid/sparse/term_dictionary.hpp"

namespace braid::sparse {

/// The rows of one term as they lie in their section, verified.
struct ListView {
    enum class Form : std::uint8_t { Single, Run, Rows, Column };

    TermEntry entry;
    Form form = Form::Single;
    ListHeader header;                           // Rows, Column
    std::span<const std::uint8_t> label_counts;  // the same; empty: not stored
    const std::uint8_t* directory = nullptr;     // Rows: first entry of each window, and the end
    std::uint32_t entry_width = 4;               // Rows: bytes of a number of the directory
    const std::uint8_t* rows = nullptr;          // Rows: u16 each, in the window; null: gaps
    const std::uint8_t* gaps = nullptr;          // Rows: distances from row to row
    const std::uint8_t* marks = nullptr;         // with gaps: see kMarkedEntries
    const std::uint8_t* codes = nullptr;         // Rows: a RowCode each
    /// Rows: for entries whose code says kTopTf "or more", their numbers (u32), ascending, followed
    /// by the counts (u8). Version 2 does not know them, version 4 has `apart`.
    std::span<const std::uint8_t> often;
    CountsApart apart;                  // Rows, Column; version 4
    bool counted = false;               // version 4: it says how often each field has the term
    std::uint8_t fields = 1;            // of the index
    std::uint8_t main_field = 0;        // the same
    const std::uint8_t* tfs = nullptr;  // Column: half a byte each
    std::span<const std::uint8_t> run;
    std::shared_ptr<const DecodedList> decoded;  // of a version 2 list: owns the above

    /// Requires Rows, as do all members down to tf_at. With gaps there are more entries than rows:
    /// those with a tf of 0 are not rows, and lie where the list has none.
    std::uint32_t first_entry(std::uint32_t window) const noexcept {
        return load_narrow(directory, entry_width, window);
    }
    std::uint32_t count_in(std::uint32_t window) const noexcept {
        return first_entry(window + 1) - first_entry(window);
    }
    /// In its window, even if the list is damaged. Requires that there are no gaps.
    std::uint32_t row_at(std::size_t i) const noexcept {
        return load<std::uint16_t>(rows, i) % kWindowRows;
    }
    /// The entry of a row, given by its place in the window; kNoEntry if there is none.
    std::uint32_t find_in(std::uint32_t window, std::uint32_t row) const noexcept;
    static constexpr std::uint32_t kNoEntry = 0xFFFFFFFF;
    /// How often a row of a window has the term; 0 if it does not; kMostRunTf means "or more".
    std::uint32_t tf_in(std::uint32_t window, std::uint32_t row) const noexcept;
    /// Calls use(row in the window, code) for each entry of a window.
    template <class Use>
    void each_in(std::uint32_t window, const Use& use) const {
        const std::size_t end = first_entry(window + 1);
        // Copies: otherwise what `use` writes might alias the members.
        const std::uint8_t* const all = rows;
        const std::uint8_t* const their = codes;
        if (const std::uint8_t* const distances = gaps; distances != nullptr) {
            std::uint32_t row = 0xFFFFFFFF;  // the one before the window's first
            for (std::size_t i = first_entry(window); i < end; ++i) {
                row += distances[i];
                use(row % kWindowRows, RowCode(their[i]));
            }
            return;
        }
        for (std::size_t i = first_entry(window); i < end; ++i) {
            use(std::uint32_t{load<std::uint16_t>(all, i)} % kWindowRows, RowCode(their[i]));
        }
    }
    RowCode code_at(std::uint32_t i) const noexcept { return RowCode(codes[i]); }
    /// The count of an entry; kMostRunTf means "or more".
    std::uint32_t tf_at(std::uint32_t i) const noexcept {
        const std::uint32_t tf = RowCode(codes[i]).tf();
        return tf < kTopTf ? tf : often_at(i);
    }
    /// The count of a row of a Column; kTopNibble means "or more".
    std::uint32_t nibble(std::size_t i) const noexcept { return tfs[i / 2] >> (i % 2 * 4) & 15U; }
    /// The same, at most kMostRunTf, which means "or more".
    std::uint32_t tf_in_column(std::uint32_t row) const noexcept;
    /// How often each field of a row has the term; false if the row does not hold it. Requires
    /// `counted`, and not a Run.
    bool counts_of(std::uint32_t row, FieldCounts& counts) const noexcept;

private:
    std::uint32_t find_in_gaps(std::uint32_t window, std::uint32_t row) const noexcept;
    std::uint32_t often_at(std::uint32_t i) const noexcept;
};

/// The rows of a list one by one.
class ListCursor {
public:
    static constexpr std::uint32_t kEnd = 0xFFFFFFFF;

    ListCursor(const ListView& list, std::uint32_t rows) noexcept;

    /// kEnd when there are no more.
    std::uint32_t row() const noexcept { return row_; }
    /// The count. In version 3, kMostRunTf and, for columns, kTopNibble mean "or more".
    std::uint32_t tf() const noexcept { return tf_; }
    /// How often each field has the term; false if only the main field does, as often as tf() says.
    /// Requires a list that is `counted`.
    bool counts(FieldCounts& counts) const noexcept {
        if (plain_) return false;
        counts = counts_;
        return true;
    }
    /// To the next row.
    void next() noexcept;

private:
    void next_in_run() noexcept;
    void next_in_windows() noexcept;
    void next_in_column() noexcept;
    void take(std::uint32_t row, std::uint32_t tf) noexcept {
        row_ = row < rows_ ? row : kEnd;
        tf_ = tf;
        plain_ = true;
    }
    /// For a row whose counts stand by themselves.
    void take_counts() noexcept {
        tf_ = total_of(counts_.data(), list_.fields);
        plain_ = false;
    }

    ListView list_;
    std::uint32_t rows_;
    std::uint32_t row_ = kEnd;
    std::uint32_t tf_ = 0;
    std::uint64_t next_row_ = 0;  // of runs and columns: the first that may come
    const std::uint8_t* at_ = nullptr;
    std::uint32_t window_ = 0;
    std::uint32_t entry_ = 0;
    std::uint32_t after_ = 0;  // with gaps: the row behind the last entry, in its window
    CountsApart::Cursor apart_;
    FieldCounts counts_{};
    bool plain_ = true;
};

}  // namespace braid::sparse
