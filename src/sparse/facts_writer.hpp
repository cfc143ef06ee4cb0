#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "braid/result.hpp"
#include "braid/sparse/field_counts.hpp"
#include "braid/store/sections.hpp"

namespace braid::sparse {

/// Collects the labels and lengths of the rows of an index being written, and writes the sections
/// that hold them.
class FactsWriter {
public:
    /// `header` receives what is known of the rows; it must outlive this.
    FactsWriter(IndexHeader& header, store::SectionSink& sink) : header_(header), sink_(sink) {}

    /// The next row.
    Result<> add(std::uint32_t label, const FieldCounts& lengths);
    /// After the last row.
    Result<> write();

    // After write():

    /// Of each row.
    std::span<const std::uint8_t> length_classes() const noexcept { return classes_; }
    /// Of each row, among those of the index; empty: there is one label.
    std::span<const std::uint32_t> label_numbers() const noexcept { return label_numbers_; }

private:
    void classify_lengths();
    Result<> write_lengths();
    Result<> write_labels();
    const std::uint32_t* lengths_of(std::uint32_t row) const noexcept {
        return lengths_.data() + static_cast<std::size_t>(row) * header_.fields;
    }

    IndexHeader& header_;
    store::SectionSink& sink_;
    std::vector<std::uint32_t> lengths_;  // fields per row
    std::vector<std::uint32_t> totals_;
    std::vector<std::uint32_t> labels_;
    std::vector<std::uint32_t> label_numbers_;
    std::vector<std::uint8_t> classes_;
};

}  // namespace braid::sparse
