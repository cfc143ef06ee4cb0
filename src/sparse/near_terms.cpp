#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "braid/core/edit_automaton.hpp"
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
/// terms in byte order share prefixes, for which the rows of the table are kept.
class EditTable {
public:
    EditTable(std::string_view word, std::uint32_t most)
        : word_(characters_of(word)), most_(most), rows_(1) {
        for (std::size_t j = 0; j <= word_.size(); ++j) {
            rows_[0].cells.push_back(static_cast<std::uint32_t>(j));
        }
    }

    /// Keeps what was computed for the first `bytes` bytes of the previous text.
    void shrink(std::size_t bytes) noexcept {
        while (depth_ > 0 && rows_[depth_].end > bytes) --depth_;
    }
    /// Continues to the end of `text`, or to where no distance is small enough any more: then it
    /// returns the length in bytes up to there, else npos.
    std::size_t grow(std::string_view text) {
        while (rows_[depth_].end < text.size()) {
            if (rows_[depth_].least > most_) return rows_[depth_].end;
            append(text);
        }
        return rows_[depth_].least > most_ ? rows_[depth_].end : std::string_view::npos;
    }
    /// Requires that grow() reached the end.
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

/// The common prefix of all terms of a block, as far as its key and the next one tell, in whole
/// characters.
class BlockBeginning {
public:
    BlockBeginning(std::uint64_t key, std::uint64_t next) noexcept {
        const std::uint64_t big_endian = __builtin_bswap64(key);
        std::memcpy(bytes_.data(), &big_endian, bytes_.size());
        const std::size_t shared = static_cast<std::size_t>(std::countl_zero(key ^ next)) / 8;
        // Keys of short terms are padded with zeros.
        const auto* const end = std::find(bytes_.begin(), bytes_.begin() + shared, '\0');
        const std::string_view known(bytes_.data(), static_cast<std::size_t>(end - bytes_.begin()));
        size_ = core::valid_utf8_prefix(known);
    }
    std::string_view text() const noexcept { return {bytes_.data(), size_}; }

private:
    std::array<char, 8> bytes_{};
    std::size_t size_ = 0;
};

/// Whether two keys begin with the same bytes; with none, all of them do.
bool same_beginning(std::uint64_t a, std::uint64_t b, std::size_t bytes) noexcept {
    return bytes == 0 || (a ^ b) >> (64 - 8 * bytes) == 0;
}

}  // namespace

std::uint32_t term_distance(std::string_view a, std::string_view b, std::uint32_t most) {
    EditTable table(a, most);
    if (table.grow(b) != std::string_view::npos) return most + 1;
    return std::min(table.distance(), most + 1);
}

template <class Distances>
Result<> TermDictionary::walk_near(Distances distances, std::size_t most, std::string_view prefix,
                                   const NearVisitor& visitor) const {
    constexpr std::size_t npos = std::string_view::npos;
    if (terms_ == 0) return {};
    BRAID_TRY(const Arrays at, arrays());
    BRAID_TRY(std::uint32_t number, block_of(at, prefix));
    const auto key = [&](std::uint32_t place) { return load<std::uint64_t>(at.keys, place); };
    std::string before;  // a prefix of what was read last
    for (; number < blocks(); ++number) {
        // Nothing is known about the last block.
        const std::uint64_t next = number + 1 < blocks() ? key(number + 1) : ~key(number);
        const BlockBeginning beginning(key(number), next);
        distances.shrink(shared_bytes(before, beginning.text()));
        before = beginning.text();
        const std::string_view compared = prefix.substr(0, before.size());
        if (before.substr(0, compared.size()) > compared) return {};
        std::size_t hopeless = distances.grow(before);
        if (hopeless != npos) {
            const std::uint64_t first = key(number);
            while (number + 2 < blocks() && same_beginning(first, key(number + 2), hopeless)) {
                ++number;
            }
            continue;
        }
        BRAID_TRY(TermBlockCursor cursor, block(at, number));
        for (bool first = true; cursor.next(); first = false) {
            const std::size_t shared = first ? before.size() : cursor.shared();
            if (hopeless != npos && shared >= hopeless) continue;
            distances.shrink(shared);
            before = cursor.term();
            hopeless = distances.grow(before);
            if (!before.starts_with(prefix)) {
                if (before > prefix) return {};
                continue;
            }
            if (hopeless != npos || distances.distance() > most) continue;
            if (!visitor(before, cursor.entry(), distances.distance())) return {};
        }
        if (cursor.broken()) return corrupt_index("a block of terms cannot be read");
    }
    return {};
}

Result<> TermDictionary::each_near(std::string_view term, std::uint32_t distance,
                                   const NearVisitor& visitor) const {
    if (term.size() > kMaxIndexTermBytes) {
        return invalid_argument("a word of " + std::to_string(term.size()) +
                                " bytes is longer than any term");
    }
    return walk_near(EditTable(term, distance), distance, {}, visitor);
}

Result<> TermDictionary::each_alike(std::string_view term, std::size_t distance,
                                    std::size_t exact_prefix, const NearVisitor& visitor) const {
    return walk_near(core::EditAutomaton(term, distance), distance, term.substr(0, exact_prefix),
                     visitor);
}

}  // namespace braid::sparse
