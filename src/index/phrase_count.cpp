#include "braid/index/phrase_count.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace braid::index {
namespace {

using Positions = std::vector<std::uint32_t>;

/// Where a term of each place stands, ascending.
std::vector<Positions> positions_of(const Phrase& phrase, std::span<const text::Token> tokens) {
    std::vector<Positions> all(phrase.places.size());
    for (const text::Token& token : tokens) {
        for (std::size_t i = 0; i < phrase.places.size(); ++i) {
            const auto& place = phrase.places[i];
            if (std::ranges::find(place, token.term) == place.end()) continue;
            if (all[i].empty() || all[i].back() != token.position) all[i].push_back(token.position);
        }
    }
    return all;
}

std::uint32_t count_in_order(const Phrase& phrase, const std::vector<Positions>& positions) {
    std::uint32_t count = 0;
    for (const std::uint32_t first : positions.front()) {
        bool all = true;
        for (std::size_t i = 1; all && i < positions.size(); ++i) {
            all = std::ranges::binary_search(positions[i], first + phrase.offsets[i]);
        }
        count += all ? 1 : 0;
    }
    return count;
}

/// Places of the same terms are one word that is needed several times.
struct Needed {
    const std::vector<std::string_view>* place = nullptr;
    const Positions* positions = nullptr;
    std::uint32_t times = 0;
    std::uint32_t held = 0;
};

std::uint32_t count_near(const Phrase& phrase, const std::vector<Positions>& positions) {
    std::vector<Needed> needed;
    for (std::size_t i = 0; i < phrase.places.size(); ++i) {
        const auto same = [&](const Needed& one) { return *one.place == phrase.places[i]; };
        const auto found = std::ranges::find_if(needed, same);
        if (found != needed.end()) {
            ++found->times;
        } else {
            needed.push_back({&phrase.places[i], &positions[i], 1, 0});
        }
    }
    std::vector<std::pair<std::uint32_t, std::size_t>> events;  // position, which word
    for (std::size_t i = 0; i < needed.size(); ++i) {
        for (const std::uint32_t position : *needed[i].positions) events.emplace_back(position, i);
    }
    std::ranges::sort(events);
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

std::uint32_t count_phrase(const Phrase& phrase, std::span<const text::Token> tokens) {
    const std::vector<Positions> positions = positions_of(phrase, tokens);
    if (std::ranges::any_of(positions, [](const Positions& one) { return one.empty(); })) return 0;
    return phrase.between == 0 ? count_in_order(phrase, positions) : count_near(phrase, positions);
}

}  // namespace braid::index
