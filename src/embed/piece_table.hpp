#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace braid::embed {

/// A vocabulary by text, built once and then only read. Finds the longest entry that a text begins
/// with in one pass over the text's bytes.
class PieceTable {
public:
    struct Match {
        std::int32_t id = -1;  // negative: none
        std::size_t size = 0;  // bytes
    };

    /// Room for `pieces` entries with `bytes` bytes in total. Requires bytes < 4 GiB.
    PieceTable(std::size_t pieces, std::size_t bytes);

    /// False if the piece exists already. Requires that there is room, and id >= 0.
    bool insert(std::string_view piece, std::int32_t id);

    /// The longest entry that `text` begins with and that does not end inside a character.
    Match longest(std::string_view text) const;

private:
    struct Slot {
        std::uint32_t begin = 0;
        std::uint32_t size = 0;
        std::uint32_t hash = 0;
        std::int32_t id = -1;  // negative: free
    };

    const Slot* find(std::string_view piece, std::uint64_t hash) const;
    std::size_t place(std::uint64_t hash) const noexcept { return hash & (slots_.size() - 1); }

    std::string text_;
    std::vector<Slot> slots_;  // a power of two, at most half full
    std::size_t longest_ = 0;
};

}  // namespace braid::embed
