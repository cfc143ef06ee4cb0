#include "braid/index/phrase_count.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>
#include <vector>

namespace braid::index {
namespace {

using Places = std::span<const std::span<const std::uint32_t>>;

/// Whether there is a position equal to `wanted`, searching from `at` on, which advances to it.
bool stands_at(std::span<const std::uint32_t> positions, std::size_t& at, std::uint64_t wanted) {
    while (at < positions.size() && positions[at] < wanted) ++at;
    return at < positions.size() && positions[at] == wanted;
}

std::uint32_t count_in_order(const Phrase& phrase, Places positions) {
    constexpr std::size_t kFew = 8;
    std::array<std::size_t, kFew> few{};
    std::vector<std::size_t> many(positions.size() > kFew ? positions.size() : 0);
    std::size_t* const at = many.empty() ? few.data() : many.data();
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < positions[0].size(); ++i) {
        if (i > 0 && positions[0][i] == positions[0][i - 1]) continue;
        const std::uint64_t first = positions[0][i];
        bool all = true;
        for (std::size_t p = 1; all && p < positions.size(); ++p) {
            all = stands_at(positions[p], at[p], first + phrase.offsets[p]);
        }
        count += all ? 1 : 0;
    }
    return count;
}

/// Places with the same word need that word several times.
struct Needed {
    std::uint32_t place = 0;
    std::uint32_t times = 0;
    std::uint32_t held = 0;
};

std::uint32_t count_near(const Phrase& phrase, Places positions) {
    std::vector<Needed> needed;
    for (const std::uint32_t first : phrase.same) {
        const auto found = std::ranges::find(needed, first, &Needed::place);
        if (found != needed.end()) {
            ++found->times;
        } else {
            needed.push_back({first, 1, 0});
        }
    }
    std::vector<std::pair<std::uint32_t, std::size_t>> events;  // position, which word
    for (std::size_t i = 0; i < needed.size(); ++i) {
        for (const std::uint32_t position : positions[needed[i].place]) {
            events.emplace_back(position, i);
        }
    }
    std::ranges::sort(events);
    events.erase(std::ranges::unique(events).begin(), events.end());
    const std::uint32_t width = phrase.offsets.back() + phrase.between;
    std::deque<std::pair<std::uint32_t, std::size_t>> window;
    std::uint32_t count = 0;
    for (const auto& event : events) {
        window.push_back(event);
        ++needed[event.second].held;
        while (event.first - window.front().first > width) {
            --needed[window.front().second].held;
            window.pop_front();
        }
        if (!std::ranges::all_of(needed, [](const Needed& n) { return n.held >= n.times; })) {
            continue;
        }
        ++count;
        window.clear();
        for (Needed& one : needed) one.held = 0;
    }
    return count;
}

}  // namespace

std::uint32_t count_phrase(const Phrase& phrase, Places positions) {
    if (std::ranges::any_of(positions, [](const auto& one) { return one.empty(); })) return 0;
    return phrase.between == 0 ? count_in_order(phrase, positions) : count_near(phrase, positions);
}

}  // namespace braid::index
