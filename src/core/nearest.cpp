#include "braid/core/nearest.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace braid::core {

std::string ascii_lower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
    const std::size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
    if (gap > limit) return limit + 1;
    // Rows i - 2, i - 1 and i of the table: entry j is the distance from a's first i bytes to b's
    // first j.
    std::vector<std::size_t> two_above(b.size() + 1);
    std::vector<std::size_t> above(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        two_above.swap(above);
        above.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return std::min(row[b.size()], limit + 1);
}

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> known) {
    constexpr std::size_t longest = 64;
    if (word.size() > longest) return std::nullopt;
    const std::string wanted = ascii_lower(word);
    std::optional<std::string_view> best;
    std::size_t best_distance = 0;
    for (const std::string_view candidate : known) {
        if (candidate.size() > longest) continue;
        const std::size_t limit = std::max(wanted.size(), candidate.size()) / 3;
        const std::size_t distance = edit_distance(wanted, ascii_lower(candidate), limit);
        if (distance > limit || (best && distance >= best_distance)) continue;
        best = candidate;
        best_distance = distance;
    }
    return best;
}

}  // namespace braid::core
