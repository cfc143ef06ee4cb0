#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "braid/collection.hpp"

namespace braid::index {

/// Places in a document from `before` ahead of one to `after` behind it. Uses distances rather than
/// bounds: index - before may not be representable.
class Nearby {
public:
    Nearby(std::int64_t index, std::size_t before, std::size_t after)
        : index_(index), before_(before), after_(after) {}

    bool holds(const Chunk& chunk) const {
        if (!chunk.chunk_index) return false;
        const std::int64_t at = *chunk.chunk_index;
        const auto distance = static_cast<std::uint64_t>(at) - static_cast<std::uint64_t>(index_);
        return at >= index_ ? distance <= after_ : 0 - distance <= before_;
    }

private:
    std::int64_t index_;
    std::size_t before_;
    std::size_t after_;
};

/// Sorts them into document order; all must have a place in it.
inline void sort_by_place(std::vector<Chunk>& chunks) {
    std::ranges::sort(chunks, [](const Chunk& a, const Chunk& b) {
        return std::tie(*a.chunk_index, a.chunk_id) < std::tie(*b.chunk_index, b.chunk_id);
    });
}

}  // namespace braid::index
