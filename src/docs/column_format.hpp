#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace braid::docs {

/// Columns byte by byte: docs/formats/documents.md.
inline constexpr std::string_view kColumnNamesSection = "columns.names";
inline constexpr std::string_view kColumnOffsetsSection = "columns.offsets";
inline constexpr std::string_view kColumnDataSection = "columns.data";

/// What a column's name begins with: a field of the chunk, or a path into the metadata.
inline constexpr char kOwnColumn = '=';
inline constexpr char kMetadataColumn = '.';

/// Longer metadata paths have no column; filters on them read the chunks.
inline constexpr std::size_t kMaxPathBytes = 1024;

/// What a row holds in a column.
enum class RowKind : std::uint8_t { One, List, Names };  // Names: a list that is not a JSON value

/// The parts of a column, in this order.
enum class ColumnPart : std::uint8_t {
    Rows,         // packed: rows that have a value; no bytes: all
    Kinds,        // packed: RowKind of each of them; no bytes: each holds one value
    Starts,       // packed, one more: where its codes begin; no bytes as above
    Codes,        // packed
    Numbers,      // a byte (0 integer, 1 double) and eight more, ascending
    Texts,        // string table
    TextTimes,    // packed: times that texts denote, ascending
    TimedTexts,   // packed: which texts these are
    Times,        // packed: values that are times themselves, ascending
    OtherStarts,  // packed, one more: where the values of Others begin
    Others,       // objects, nested lists, and NaN
};
inline constexpr std::size_t kColumnParts = 11;
inline constexpr std::uint64_t kColumnHeaderBytes = 8 * kColumnParts;
inline constexpr std::uint64_t kNumberBytes = 9;

/// Codes of values: these three, then numbers, texts, times, others, each in its own order.
inline constexpr std::uint64_t kNullCode = 0;
inline constexpr std::uint64_t kFalseCode = 1;
inline constexpr std::uint64_t kTrueCode = 2;
inline constexpr std::uint64_t kFirstCode = 3;

}  // namespace braid::docs
