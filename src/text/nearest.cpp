#include "braid/text/nearest.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "braid/core/nearest.hpp"

namespace braid::text {

std::optional<std::string_view> nearest_name(std::string_view wanted,
                                             std::span<const std::string_view> known) {
    return core::nearest(wanted, known);
}

std::vector<std::string_view> nearest_names(std::string_view wanted,
                                            std::span<const std::string_view> known,
                                            std::size_t count) {
    static constexpr std::size_t kLimit = 64;
    // Beyond the limit every name is equally far, so a long `wanted` need not be compared whole.
    const std::string lower = core::ascii_lower(wanted.substr(0, 4 * kLimit));
    std::vector<std::pair<std::size_t, std::string_view>> ranked;
    ranked.reserve(known.size());
    for (const std::string_view name : known) {
        ranked.emplace_back(core::edit_distance(lower, core::ascii_lower(name), kLimit), name);
    }
    std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
    ranked.resize(std::min(count, ranked.size()));
    std::vector<std::string_view> names;
    names.reserve(ranked.size());
    for (const auto& [distance, name] : ranked) names.push_back(name);
    return names;
}

}  // namespace braid::text
