#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "braid/result.hpp"
#include "braid/sparse/decoded_list.hpp"
#include "braid/sparse/forward_list.hpp"
#include "braid/sparse/index_format.hpp"
#include "braid/sparse/term_dictionary.hpp"
#include "braid/store/sections.hpp"

namespace braid::sparse {

/// The rows of one term, as they lie in their section, verified.
struct ListView {
    enum class Form : std::uint8_t { Single, Run, Rows, Column };

    TermEntry entry;
    Form form = Form::Single;
    ListHeader header;                           // Rows, Column
    std::span<const std::uint8_t> label_counts;  // the same; empty: not stored
    const std::uint8_t* directory = nullptr;     // Rows: first entry of each window, and the end
    const std::uint8_t* rows = nullptr;          // Rows: u16 each, in the window
    const std::uint8_t* codes = nullptr;         // Rows: a RowCode each
    /// Rows: of the entries whose code says kTopTf "or more", their numbers (u32), ascending, and
    /// behind them how often (u8). Those of version 2 are not known.
    std::span<const std::uint8_t> often;
    const std::uint8_t* tfs = nullptr;  // Column: half a byte each
    std::span<const std::uint8_t> run;
    std::shared_ptr<const DecodedList> decoded;  // of a list of version 2: what those point to

    /// Requires Rows, as does all down to tf_at.
    std::uint32_t first_entry(std::uint32_t window) const noexcept {
        return load<std::uint32_t>(directory, window);
    }
    std::uint32_t count_in(std::uint32_t window) const noexcept {
        return first_entry(window + 1) - first_entry(window);
    }
    /// In its window, whatever a damaged list says.
    std::uint32_t row_at(std::size_t i) const noexcept {
        return load<std::uint16_t>(rows, i) % kWindowRows;
    }
    /// How often a row of a window has the term; 0 if it does not, kMostRunTf means "or more".
    std::uint32_t tf_in(std::uint32_t window, std::uint32_t row) const noexcept;
    /// Calls use(row in the window, code) for each entry of a window. A code whose tf is 0 is that
    /// of a damaged list.
    template <class Use>
    void each_in(std::uint32_t window, const Use& use) const {
        const std::size_t end = first_entry(window + 1);
        // Copies: what `use` writes may be taken for a change of the members.
        const std::uint8_t* const all = rows;
        const std::uint8_t* const their = codes;
        for (std::size_t i = first_entry(window); i < end; ++i) {
            use(std::uint32_t{load<std::uint16_t>(all, i)} % kWindowRows, RowCode(their[i]));
        }
    }
    /// How often, of an entry; kMostRunTf means "or more".
    std::uint32_t tf_at(std::uint32_t i) const noexcept {
        const std::uint32_t tf = RowCode(codes[i]).tf();
        return tf < kTopTf ? tf : often_at(i);
    }
    /// How often, of a row of a Column; kTopNibble means "or more".
    std::uint32_t nibble(std::size_t i) const noexcept { return tfs[i / 2] >> (i % 2 * 4) & 15U; }

private:
    std::uint32_t often_at(std::uint32_t i) const noexcept;
};

/// Where the terms of a row stand, term after term as its forward list has them, field by field.
class Positions {
public:
    Positions() = default;
    Positions(const std::uint8_t* at, std::uint32_t width, std::size_t size) noexcept
        : at_(at), width_(width), size_(size) {}

    std::size_t size() const noexcept { return size_; }
    std::uint32_t operator[](std::size_t i) const noexcept { return load_narrow(at_, width_, i); }

private:
    const std::uint8_t* at_ = nullptr;
    std::uint32_t width_ = 1;
    std::size_t size_ = 0;
};

/// What is stored per row, verified.
class RowFacts {
public:
    std::uint32_t length(std::uint32_t row, std::size_t field) const noexcept {
        return load_narrow(lengths_[field], header_->length_widths[field], row);
    }
    /// Of all fields together.
    std::uint64_t total_length(std::uint32_t row) const noexcept {
        std::uint64_t total = 0;
        for (std::size_t f = 0; f < header_->fields; ++f) total += length(row, f);
        return total;
    }
    void prefetch_lengths(std::uint32_t row) const noexcept {
        for (std::size_t f = 0; f < header_->fields; ++f) {
            __builtin_prefetch(lengths_[f] +
                               static_cast<std::size_t>(row) * header_->length_widths[f]);
        }
    }
    /// Of each row, below kLengthClasses if nothing is damaged.
    const std::uint8_t* length_classes() const noexcept { return classes_; }
    std::uint32_t length_class(std::uint32_t row) const noexcept {
        return classes_[row] % kLengthClasses;
    }
    void prefetch_offset(std::uint32_t row) const noexcept {
        __builtin_prefetch(offsets_ + static_cast<std::size_t>(row) * header_->offset_width);
    }
    std::uint64_t offset(std::uint32_t row) const noexcept {
        if (header_->offset_width == 4) return load<std::uint32_t>(offsets_, row);
        return load<std::uint64_t>(offsets_, row);
    }
    void prefetch(std::uint32_t row) const noexcept;
    /// Corruption if the list is not where it should be.
    Result<ForwardCursor> terms(std::uint32_t row) const;

    bool has_positions() const noexcept { return position_offsets_ != nullptr; }
    /// Requires has_positions(). As many as the row's lengths say; Corruption if they are not.
    Result<Positions> positions(std::uint32_t row) const;
    void prefetch_positions(std::uint32_t row) const noexcept;

private:
    friend class IndexReader;

    std::uint64_t position_offset(std::uint32_t row) const noexcept {
        if (position_offset_width_ == 4) return load<std::uint32_t>(position_offsets_, row);
        return load<std::uint64_t>(position_offsets_, row);
    }

    const IndexHeader* header_ = nullptr;
    std::array<const std::uint8_t*, kMaxFields> lengths_{};
    const std::uint8_t* classes_ = nullptr;
    const std::uint8_t* offsets_ = nullptr;
    const std::uint8_t* forward_begin_ = nullptr;  // to prefetch from, never to read
    store::Section forward_;
    const std::uint8_t* position_offsets_ = nullptr;
    std::uint32_t position_offset_width_ = 4;
    store::Section positions_;
};

/// The label of each row, as a number among those of the index, verified.
class RowLabels {
public:
    std::uint32_t number(std::uint32_t row) const noexcept {
        return width_ == 0 ? 0 : load_narrow(numbers_, width_, row);
    }

private:
    friend class IndexReader;

    const std::uint8_t* numbers_ = nullptr;
    std::uint32_t width_ = 0;  // 0: all rows have the one label
};

/// Rows and bytes of a label.
struct LabelFacts {
    std::uint32_t label = 0;
    std::uint32_t rows = 0;
    std::array<std::uint64_t, kMaxFields> total_lengths{};
};

/// An index over its sections, which must outlive it. Opening reads the header alone; everything
/// else is verified when it is first touched, and a length that cannot be is Corruption. Safe for
/// concurrent use.
class IndexReader {
public:
    static Result<IndexReader> open(const store::SectionSource& source);

    std::uint32_t rows() const noexcept { return header_.rows; }
    std::uint32_t fields() const noexcept { return header_.fields; }
    std::uint32_t labels() const noexcept { return header_.labels; }
    const IndexHeader& header() const noexcept { return header_; }
    const TermDictionary& dictionary() const noexcept { return dictionary_; }

    Result<ListView> list(const TermEntry& entry) const;
    /// Without positions unless they are asked for and there.
    Result<RowFacts> row_facts(bool positions = false) const;
    /// Whether it says where in a row its terms stand.
    bool has_positions() const noexcept { return position_offsets_.has_value(); }

    /// Labels are numbered from 0 in increasing order.
    Result<LabelFacts> label(std::uint32_t number) const;
    /// Numbers it does not check.
    Result<RowLabels> row_labels() const;
    /// Of a row's label. Requires row < rows().
    Result<std::uint32_t> label_number(std::uint32_t row) const;
    Result<std::uint32_t> label_of(std::uint32_t row) const;

    /// To be asked once after a search: Corruption if what was read may have been zeros.
    Result<> intact() const { return forward_.intact(); }

private:
    Result<> check_sizes() const;

    IndexHeader header_;
    TermDictionary dictionary_;
    store::Section lengths_;
    store::Section classes_;
    store::Section labels_;
    store::Section offsets_;
    store::Section forward_;
    store::Section postings_;
    store::Section columns_;
    std::optional<store::Section> position_offsets_;
    store::Section positions_;
};

/// The rows of a list one by one.
class ListCursor {
public:
    static constexpr std::uint32_t kEnd = 0xFFFFFFFF;

    ListCursor(const ListView& list, std::uint32_t rows) noexcept;

    /// kEnd when there are no more.
    std::uint32_t row() const noexcept { return row_; }
    /// How often; kMostRunTf, of a column kTopNibble, mean "or more".
    std::uint32_t tf() const noexcept { return tf_; }
    /// To the next row.
    void next() noexcept;

private:
    void next_in_run() noexcept;
    void next_in_windows() noexcept;
    void next_in_column() noexcept;
    void take(std::uint32_t row, std::uint32_t tf) noexcept {
        row_ = row < rows_ ? row : kEnd;
        tf_ = tf;
    }

    ListView list_;
    std::uint32_t rows_;
    std::uint32_t row_ = kEnd;
    std::uint32_t tf_ = 0;
    std::uint64_t next_row_ = 0;  // of runs and columns: the first that may come
    const std::uint8_t* at_ = nullptr;
    std::uint32_t window_ = 0;
    std::uint32_t entry_ = 0;
};

}  // namespace braid::sparse
