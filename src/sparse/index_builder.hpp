#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "braid/sparse/index_writer.hpp"

namespace braid::sparse {

/// A term of a row and how often it occurs in each text field.
struct TermCounts {
    std::string_view term;
    FieldCounts counts{};
};

/// Takes rows one after another, numbered from 0, and writes an index of them. What it holds grows
/// with the rows; bound their number, and merge indexes for more. Not safe for concurrent use.
class IndexBuilder {
public:
    /// Requires 1 <= fields <= kMaxFields.
    explicit IndexBuilder(std::uint32_t fields) noexcept : fields_(fields) {}

    /// The next row. InvalidArgument, and nothing added, if a term is longer than
    /// kMaxIndexTermBytes, is given twice, or occurs nowhere.
    Result<> add(std::uint32_t label, std::span<const std::uint32_t> lengths,
                 std::span<const TermCounts> terms);

    std::uint32_t rows() const noexcept { return static_cast<std::uint32_t>(rows_.size()); }
    /// What it holds, about.
    std::uint64_t memory_bytes() const noexcept;

    Result<> finish(store::SectionSink& sink, const WriteOptions& options = {}) const;

private:
    friend class BuiltRows;
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>()(text);
        }
    };
    struct BuiltRow {
        std::uint32_t label = 0;
        FieldCounts lengths{};
        std::uint64_t end = 0;  // in forward_
    };

    std::uint32_t fields_;
    /// Terms in the order in which they came.
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
    std::uint64_t term_bytes_ = 0;
    std::vector<BuiltRow> rows_;
    Bytes forward_;  // the terms of each row, as ForwardWriter writes them
    std::vector<std::pair<std::uint32_t, const TermCounts*>> entries_;
};

}  // namespace braid::sparse
