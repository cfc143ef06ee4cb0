#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "braid/result.hpp"
#include "braid/sparse/varint.hpp"

/// The bytes of a sparse index: docs/formats/sparse.md.
namespace braid::sparse {

inline constexpr std::size_t kMaxFields = 8;
inline constexpr std::size_t kMaxIndexTermBytes = 255;
inline constexpr std::uint32_t kMaxRows = 0x7FFFFFFF;

/// Rows per window: one accumulator byte for each of them fits the first-level cache.
inline constexpr std::uint32_t kWindowRows = 32'768;
inline constexpr std::uint32_t kBlockTerms = 16;
/// A term with this many rows or more has a list with a directory of windows; below, a run.
inline constexpr std::uint32_t kListRows = 128;

inline constexpr std::uint32_t kLengthClasses = 32;
inline constexpr std::uint32_t kTopTf = 7;       // of lists; it means "or more"
inline constexpr std::uint32_t kTopNibble = 15;  // the same in columns

inline constexpr std::string_view kHeaderSection = "sparse.header";
inline constexpr std::string_view kLengthsSection = "sparse.lengths";
inline constexpr std::string_view kClassesSection = "sparse.classes";
inline constexpr std::string_view kLabelsSection = "sparse.labels";
inline constexpr std::string_view kForwardOffsetsSection = "sparse.forward_offsets";
inline constexpr std::string_view kForwardSection = "sparse.forward";
/// Only if positions were asked for.
inline constexpr std::string_view kPositionsSection = "sparse.positions";
inline constexpr std::string_view kPositionOffsetsSection = "sparse.position_offsets";
inline constexpr std::string_view kPostingsSection = "sparse.postings";
inline constexpr std::string_view kColumnsSection = "sparse.columns";
inline constexpr std::string_view kTermsSection = "sparse.terms";
inline constexpr std::string_view kTermIndexSection = "sparse.term_index";

/// The largest count a run stores; it means "or more".
inline constexpr std::uint32_t kMostRunTf = 255;

/// Rows sorted by total length and cut into classes of about equal size. The shortest row of a
/// class bounds the score of all its rows, whatever the statistics and weights.
struct LengthClasses {
    /// The total length at which class c begins; equal neighbours leave a class empty.
    std::array<std::uint32_t, kLengthClasses> first{};
    /// Per class and field, the smallest length in it.
    std::array<std::array<std::uint32_t, kMaxFields>, kLengthClasses> smallest{};

    std::uint32_t class_of(std::uint32_t total) const noexcept {
        const auto after = std::upper_bound(first.begin() + 1, first.end(), total);
        return static_cast<std::uint32_t>(after - first.begin() - 1);
    }
};

/// Version 3: rows have forward lists, which say how often each field has a term. Version 4: lists
/// say that themselves. Indexes with positions use version 3, all others are written in version 4.
inline constexpr std::uint32_t kForwardVersion = 3;
inline constexpr std::uint32_t kListsVersion = 4;

struct IndexHeader {
    std::uint32_t version = kForwardVersion;
    std::uint32_t rows = 0;
    std::uint32_t fields = 1;
    std::uint32_t terms = 0;
    std::uint32_t labels = 0;
    std::uint32_t columns = 0;
    std::uint32_t main_field = 0;    // the one a term is in if nothing else is said
    std::uint32_t label_width = 0;   // bytes per row; 0: all rows share one label
    std::uint32_t offset_width = 4;  // bytes per forward offset
    std::array<std::uint32_t, kMaxFields> length_widths{};
    std::array<std::uint64_t, kMaxFields> total_lengths{};
    std::uint64_t postings = 0;
    LengthClasses classes;

    bool has_forward() const noexcept { return version < kListsVersion; }
    std::uint32_t windows() const noexcept { return (rows + kWindowRows - 1) / kWindowRows; }
    std::uint32_t blocks() const noexcept { return (terms + kBlockTerms - 1) / kBlockTerms; }
    /// Bytes of a column: 4 bits a row, rounded up to a whole word of a mask.
    std::uint64_t column_stride() const noexcept {
        return (static_cast<std::uint64_t>(rows) + 63) / 64 * 32;
    }
    std::uint64_t label_entry() const noexcept { return 8 + 8ULL * fields; }
    /// Where the lengths of a field begin in their section.
    std::uint64_t lengths_offset(std::size_t field) const noexcept;
};

Bytes encode_header(const IndexHeader& header);
/// Corruption if it is not one, Unsupported if it is newer.
Result<IndexHeader> decode_header(std::span<const std::byte> bytes);

/// Gaps and WideGaps are those of version 2, Column and Rows those of version 3.
enum class ListForm : std::uint8_t {
    Gaps = 0,
    WideGaps = 1,
    Column = 2,
    Rows = 3,
    CountedRows = 4,
    CountedColumn = 5,
    CountedGaps = 6,
};

/// What a list says about a row: how often it has the term, capped at kTopTf, and the class of its
/// length. Together they bound what the term adds to the row's score.
class RowCode {
public:
    explicit constexpr RowCode(std::uint8_t bits) noexcept : bits_(bits) {}
    constexpr RowCode(std::uint32_t tf, std::uint32_t length_class) noexcept
        : bits_(static_cast<std::uint8_t>(std::min(tf, kTopTf) * kLengthClasses |
                                          length_class % kLengthClasses)) {}
    constexpr std::uint32_t tf() const noexcept { return bits_ / kLengthClasses; }
    constexpr std::uint8_t bits() const noexcept { return bits_; }

private:
    std::uint8_t bits_;
};
inline constexpr std::size_t kRowCodes = 256;
/// For an entry that a list names separately because its row has the term kTopTf times or more.
inline constexpr std::size_t kOftenBytes = sizeof(std::uint32_t) + 1;

/// The largest distance one entry of a list of gaps can hold; a row farther away takes several
/// entries, all but the last with code 0.
inline constexpr std::uint32_t kMostGap = 255;
/// A term held by one in this many rows or more has such a list, unless it has a column.
inline constexpr std::uint32_t kGapsFrom = 64;
/// Every so many entries, such a list has a mark that says where in their window they begin.
inline constexpr std::uint32_t kMarkedEntries = 32;

inline constexpr std::uint8_t kNoClass = 0xFF;

/// What a list begins with.
struct ListHeader {
    ListForm form = ListForm::Rows;
    std::uint8_t fields = 0;        // bit f: some row has the term in field f
    std::uint8_t count_width = 0;   // version 4: bytes of a count stored apart
    std::uint8_t entry_width = 0;   // version 4: bytes of a number in the directory
    std::uint32_t max_tf = 0;       // over all fields together
    std::uint32_t label_bytes = 0;  // of its rows' labels
    /// For rows that have the term 1, 2, ... kTopTf times, the smallest class of length; kNoClass
    /// if there are none.
    std::array<std::uint8_t, kTopTf> classes{kNoClass, kNoClass, kNoClass, kNoClass,
                                             kNoClass, kNoClass, kNoClass};

    void add_row(std::uint32_t tf, std::uint32_t length_class) noexcept {
        std::uint8_t& smallest = classes[std::min(tf, kTopTf) - 1];
        smallest = std::min(smallest, static_cast<std::uint8_t>(length_class));
    }
};
inline constexpr std::size_t kListHeaderBytes = 20;

void put_list_header(Bytes& out, const ListHeader& header);
/// Requires kListHeaderBytes.
ListHeader load_list_header(const std::uint8_t* at) noexcept;

constexpr bool is_width(std::uint32_t width) noexcept {
    return width == 1 || width == 2 || width == 4;
}

/// Bytes a number up to `largest` needs: 1, 2 or 4.
constexpr std::uint32_t width_of(std::uint32_t largest) noexcept {
    if (largest < 0x100) return 1;
    return largest < 0x10000 ? 2 : 4;
}

/// Element `index` of an array of numbers of 1, 2 or 4 bytes.
inline std::uint32_t load_narrow(const std::uint8_t* at, std::uint32_t width,
                                 std::size_t index) noexcept {
    if (width == 1) return at[index];
    if (width == 2) return load<std::uint16_t>(at, index);
    return load<std::uint32_t>(at, index);
}
void put_narrow(Bytes& out, std::uint32_t width, std::uint32_t value);

inline tl::unexpected<Error> corrupt_index(std::string_view what) {
    return fail(ErrorCode::Corruption, "sparse index: " + std::string(what));
}

}  // namespace braid::sparse
