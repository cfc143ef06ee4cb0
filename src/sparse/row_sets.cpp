#include "braid/sparse/row_sets.hpp"

#include <algorithm>
#include <array>

namespace braid::sparse {
namespace {

constexpr std::size_t kWindowWords = kWindowRows / 64;

/// The half bytes of a word that are not 0, as 16 bits.
std::uint64_t used_halves(std::uint64_t halves) noexcept {
    halves |= halves >> 1U;
    halves |= halves >> 2U;
    halves &= 0x1111111111111111;
    halves = (halves | halves >> 3U) & 0x0303030303030303;
    halves = (halves | halves >> 6U) & 0x000F000F000F000F;
    halves = (halves | halves >> 12U) & 0x000000FF000000FF;
    return (halves | halves >> 24U) & 0xFFFF;
}

/// Which of 64 rows of a column have the term.
std::uint64_t column_word(const ListView& list, std::size_t word, std::uint32_t rows) noexcept {
    std::uint64_t bits = 0;
    if (word * 64 + 64 <= rows) {
        for (std::size_t i = 0; i < 4; ++i) {
            bits |= used_halves(load<std::uint64_t>(list.tfs + word * 32, i)) << (16 * i);
        }
        return bits;
    }
    for (std::size_t row = word * 64; row < rows; ++row) {
        bits |= static_cast<std::uint64_t>(list.nibble(row) != 0) << (row % 64);
    }
    return bits;
}

bool has_windows(const ListView& list) noexcept {
    return list.form == ListView::Form::Rows;
}

}  // namespace

Result<> add_rows(const IndexReader& reader, const TermEntry& term, RowBits& rows) {
    BRAID_TRY(const ListView list, reader.list(term));
    if (list.form == ListView::Form::Column) {
        for (std::size_t word = 0; word < rows.size(); ++word) {
            rows[word] |= column_word(list, word, reader.rows());
        }
        return {};
    }
    if (has_windows(list)) {
        for (std::uint32_t window = 0; window < reader.header().windows(); ++window) {
            const std::size_t base = window * kWindowWords;
            list.each_in(window, [&](std::uint32_t row, RowCode code) {
                if (base + row / 64 >= rows.size()) return;  // the list is damaged
                rows[base + row / 64] |= static_cast<std::uint64_t>(code.tf() != 0) << (row % 64);
            });
        }
        return {};
    }
    for (ListCursor cursor(list, reader.rows()); cursor.row() != ListCursor::kEnd; cursor.next()) {
        rows[cursor.row() / 64] |= std::uint64_t{1} << (cursor.row() % 64);
    }
    return {};
}

Result<> keep_rows(const IndexReader& reader, const TermEntry& term, RowBits& rows) {
    BRAID_TRY(const ListView list, reader.list(term));
    if (list.form == ListView::Form::Column) {
        for (std::size_t word = 0; word < rows.size(); ++word) {
            if (rows[word] != 0) rows[word] &= column_word(list, word, reader.rows());
        }
        return {};
    }
    if (!has_windows(list)) {
        RowBits own(rows.size());
        BRAID_CHECK(add_rows(reader, term, own));
        for (std::size_t word = 0; word < rows.size(); ++word) rows[word] &= own[word];
        return {};
    }
    for (std::uint32_t window = 0; window < reader.header().windows(); ++window) {
        const std::size_t first = window * kWindowWords;
        const std::size_t last = std::min(first + kWindowWords, rows.size());
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = rows.begin() + static_cast<std::ptrdiff_t>(last);
        if (std::all_of(begin, end, [](std::uint64_t word) { return word == 0; })) continue;
        std::array<std::uint64_t, kWindowWords> own{};
        list.each_in(window, [&](std::uint32_t row, RowCode code) {
            if (code.tf() != 0) own[row / 64] |= std::uint64_t{1} << (row % 64);
        });
        for (std::size_t word = first; word < last; ++word) rows[word] &= own[word - first];
    }
    return {};
}

}  // namespace braid::sparse
