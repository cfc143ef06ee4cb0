#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "braid/result.hpp"

namespace braid::docs {

/// Walks ascending lists side by side: calls `visit(stream, holders)` for each distinct key, in
/// order; `stream` is positioned at it, and `holders` are the numbers of all that are.
///
/// A stream has `Result<bool> next()`, false at the end, and `bool is_less(other)` by its key.
template <class Stream, class Visit>
Result<> merge_streams(std::vector<Stream>& streams, const Visit& visit) {
    std::vector<std::size_t> alive;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        BRAID_TRY(const bool more, streams[i].next());
        if (more) alive.push_back(i);
    }
    std::vector<std::size_t> holders;
    while (!alive.empty()) {
        holders.clear();
        for (const std::size_t i : alive) {
            if (!holders.empty() && streams[holders.front()].is_less(streams[i])) continue;
            if (!holders.empty() && streams[i].is_less(streams[holders.front()])) holders.clear();
            holders.push_back(i);
        }
        BRAID_CHECK(visit(streams[holders.front()], std::span<const std::size_t>(holders)));
        for (const std::size_t i : holders) {
            BRAID_TRY(const bool more, streams[i].next());
            if (!more) std::erase(alive, i);
        }
    }
    return {};
}

}  // namespace braid::docs
