#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "braid/sparse/varint.hpp"

namespace braid::sparse {

/// How many rows of a term have each label, in the form a list stores.
class LabelCounts {
public:
    /// `label_numbers`, one per row; empty: there is one label.
    LabelCounts(std::span<const std::uint32_t> label_numbers, std::uint32_t labels)
        : label_numbers_(label_numbers), rows_(labels, 0) {}

    /// Empty where that would take many bytes compared with the rows themselves. Valid until the
    /// next call.
    const Bytes& of(std::span<const std::uint32_t> rows) {
        constexpr std::size_t kRowsPerByte = 8;
        bytes_.clear();
        if (label_numbers_.empty()) return bytes_;
        seen_.clear();
        for (const std::uint32_t row : rows) {
            const std::uint32_t label = label_numbers_[row];
            if (rows_[label]++ == 0) seen_.push_back(label);
        }
        std::ranges::sort(seen_);
        std::uint32_t next = 0;
        for (const std::uint32_t label : seen_) {
            put_varint(bytes_, label - next);
            put_varint(bytes_, rows_[label]);
            rows_[label] = 0;
            next = label + 1;
        }
        if (bytes_.size() > rows.size() / kRowsPerByte) bytes_.clear();
        return bytes_;
    }

private:
    std::span<const std::uint32_t> label_numbers_;
    std::vector<std::uint32_t> rows_;  // all 0 between calls
    std::vector<std::uint32_t> seen_;
    Bytes bytes_;
};

}  // namespace braid::sparse
