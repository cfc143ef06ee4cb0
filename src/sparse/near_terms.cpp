#include <algorithm>
#include <vector>

#include "braid/core/utf8.hpp"
#include "braid/sparse/term_dictionary.hpp"

namespace braid::sparse {
namespace {

std::size_t character_bytes(std::string_view text, std::size_t at) noexcept {
    return core::decode_at(text, at).length;
}

std::vector<std::string_view> characters_of(std::string_view text) {
    std::vector<std::string_view> characters;
    for (std::size_t at = 0; at < text.size(); at += characters.back().size()) {
        characters.push_back(text.substr(at, character_bytes(text, at)));
    }
    return characters;
}

/// The table of edit distances between a fixed word and a text that grows and shrinks at its end:
/// terms in byte order share prefixes, whose rows of the table are kept.
class EditTable {
public:
    EditTable(std::string_view word, std::uint32_t most)
        : word_(characters_of(word)), most_(most), rows_(1) {
        for (std::size_t j = 0; j <= word_.size(); ++j) {
            rows_[0].cells.push_back(static_cast<std::uint32_t>(j));
        }
    }

    /// Keeps what was computed for the first `bytes` bytes of the text before.
    void shrink(std::size_t bytes) noexcept {
        while (depth_ > 0 && rows_[depth_].end > bytes) --depth_;
    }
    /// Goes on to the end of `text`, or to where no distance is small enough any more; then the
    /// text so far in bytes, else npos.
    std::size_t grow(std::string_view text) {
        while (rows_[depth_].end < text.size()) {
            if (rows_[depth_].least > most_) return rows_[depth_].end;
            append(text);
        }
        return rows_[depth_].least > most_ ? rows_[depth_].end : std::string_view::npos;
    }
    /// Requires grow() to have come to the end.
    std::uint32_t distance() const noexcept { return rows_[depth_].cells.back(); }

private:
    struct TableRow {
        std::size_t end = 0;  // bytes of the text
        std::uint32_t least = 0;
        std::vector<std::uint32_t> cells;
    };

    void append(std::string_view text) {
        const std::size_t at = rows_[depth_].end;
        const std::string_view character = text.substr(at, character_bytes(text, at));
        if (rows_.size() == depth_ + 1) rows_.emplace_back();
        const std::vector<std::uint32_t>& above = rows_[depth_].cells;
        TableRow& row = rows_[depth_ + 1];
        row.end = at + character.size();
        row.cells.resize(word_.size() + 1);
        row.cells[0] = above[0] + 1;
        row.least = row.cells[0];
        for (std::size_t j = 1; j <= word_.size(); ++j) {
            const std::uint32_t replaced = above[j - 1] + (word_[j - 1] == character ? 0 : 1);
            row.cells[j] = std::min({replaced, above[j] + 1, row.cells[j - 1] + 1});
            row.least = std::min(row.least, row.cells[j]);
        }
        ++depth_;
    }

    std::vector<std::string_view> word_;
    std::uint32_t most_;
    std::vector<TableRow> rows_;
    std::size_t depth_ = 0;
};

}  // namespace

std::uint32_t term_distance(std::string_view a, std::string_view b, std::uint32_t most) {
    EditTable table(a, most);
    if (table.grow(b) != std::string_view::npos) return most + 1;
    return std::min(table.distance(), most + 1);
}

Result<> TermDictionary::each_near(std::string_view term, std::uint32_t distance,
                                   std::size_t exact_prefix, const NearVisitor& visitor) const {
    if (term.size() > kMaxIndexTermBytes) {
        return invalid_argument("a word of " + std::to_string(term.size()) +
                                " bytes is longer than any term");
    }
    if (terms_ == 0) return {};
    std::size_t prefix_bytes = 0;
    for (std::size_t i = 0; i < exact_prefix && prefix_bytes < term.size(); ++i) {
        prefix_bytes += character_bytes(term, prefix_bytes);
    }
    const std::string_view prefix = term.substr(0, prefix_bytes);
    BRAID_TRY(const Arrays at, arrays());
    BRAID_TRY(std::uint32_t number, block_of(at, prefix));
    EditTable table(term, distance);
    std::string before;
    for (; number < blocks(); ++number) {
        BRAID_TRY(TermBlockCursor cursor, block(at, number));
        std::size_t hopeless = std::string_view::npos;  // no term with so many bytes in common
        while (cursor.next()) {
            const std::string_view candidate = cursor.term();
            const std::size_t common = shared_bytes(before, candidate);
            if (hopeless != std::string_view::npos && common >= hopeless) continue;
            table.shrink(common);
            before = candidate;
            if (!candidate.starts_with(prefix)) {
                if (candidate > prefix) return {};
                hopeless = std::string_view::npos;
                continue;
            }
            hopeless = table.grow(candidate);
            if (hopeless != std::string_view::npos || table.distance() > distance) continue;
            if (!visitor(candidate, cursor.entry(), table.distance())) return {};
        }
        if (cursor.broken()) return corrupt_index("a block of terms cannot be read");
        // Blocks all of whose terms begin like the last hopeless text need not be read.
        while (hopeless != std::string_view::npos && number + 2 < blocks()) {
            BRAID_TRY(const std::string next, first_term(at, number + 2));
            if (shared_bytes(before, next) < hopeless) break;
            ++number;
        }
    }
    return {};
}

}  // namespace braid::sparse
