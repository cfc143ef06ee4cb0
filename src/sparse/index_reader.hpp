#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "braid/result.hpp"
#include "braid/sparse/forward_list.hpp"
#include "braid/sparse/list_view.hpp"
#include "braid/store/sections.hpp"

namespace braid::sparse {

/// The positions of a row's terms, term by term as its forward list has them, field by field.
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
    /// The class of each row, below kLengthClasses unless damaged.
    const std::uint8_t* length_classes() const noexcept { return classes_; }
    std::uint32_t length_class(std::uint32_t row) const noexcept {
        return classes_[row] % kLengthClasses;
    }
    /// Requires has_forward(), as do all that read a row's own terms.
    bool has_forward() const noexcept { return offsets_ != nullptr; }
    void prefetch_offset(std::uint32_t row) const noexcept {
        if (has_forward())
            __builtin_prefetch(offsets_ + static_cast<std::size_t>(row) * header_->offset_width);
    }
    std::uint64_t offset(std::uint32_t row) const noexcept {
        if (header_->offset_width == 4) return load<std::uint32_t>(offsets_, row);
        return load<std::uint64_t>(offsets_, row);
    }
    void prefetch(std::uint32_t row) const noexcept;
    /// Corruption if the list is not where it should be.
    Result<ForwardCursor> terms(std::uint32_t row) const;
    /// How often each field of a row has one of its terms; Corruption if the row does not hold it.
    Result<> read_counts(std::uint32_t row, std::uint32_t id, FieldCounts& counts) const;

    bool has_positions() const noexcept { return position_offsets_ != nullptr; }
    /// Requires has_positions(). As many as the row's lengths say; Corruption if there are not.
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

/// The label of each row, as a number within the index, verified.
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
/// else is verified when first touched, and an impossible length is Corruption. Safe for concurrent
/// use.
class IndexReader {
public:
    static Result<IndexReader> open(const store::SectionSource& source);

    std::uint32_t rows() const noexcept { return header_.rows; }
    std::uint32_t fields() const noexcept { return header_.fields; }
    std::uint32_t labels() const noexcept { return header_.labels; }
    const IndexHeader& header() const noexcept { return header_; }
    const TermDictionary& dictionary() const noexcept { return dictionary_; }

    Result<ListView> list(const TermEntry& entry) const;
    /// Without positions, unless they are asked for and present.
    Result<RowFacts> row_facts(bool positions = false) const;
    /// Whether it records where in a row its terms stand.
    bool has_positions() const noexcept { return position_offsets_.has_value(); }

    /// Labels are numbered from 0 in increasing order.
    Result<LabelFacts> label(std::uint32_t number) const;
    /// Does not check the number.
    Result<RowLabels> row_labels() const;
    /// The number of a row's label. Requires row < rows().
    Result<std::uint32_t> label_number(std::uint32_t row) const;
    Result<std::uint32_t> label_of(std::uint32_t row) const;

    /// To be asked once after a search: Corruption if what was read may have been zeros instead.
    Result<> intact() const { return postings_.intact(); }

private:
    Result<> open_forward(const store::SectionSource& source);
    Result<> check_sizes() const;
    Result<> read_list(std::span<const std::uint8_t> all, ListView& list) const;
    Result<> read_counted_list(std::span<const std::uint8_t> all, ListView& list) const;

    IndexHeader header_;
    TermDictionary dictionary_;
    store::Section lengths_;
    store::Section classes_;
    store::Section labels_;
    store::Section postings_;
    // Of version 3:
    store::Section offsets_;
    store::Section forward_;
    store::Section columns_;
    std::optional<store::Section> position_offsets_;
    store::Section positions_;
};

}  // namespace braid::sparse
