#include "braid/core/edit_automaton.hpp"

#include <cassert>

namespace braid::core {

EditAutomaton::EditAutomaton(std::string_view word, std::size_t most)
    : accepted_(std::uint64_t{1} << word.size()), all_(accepted_ | (accepted_ - 1)), most_(most) {
    assert(word.size() <= kMaxWordBytes && most <= kMaxDistance);
    for (std::size_t j = 0; j < word.size(); ++j) {
        places_[static_cast<unsigned char>(word[j])] |= std::uint64_t{1} << j;
    }
    states_.reserve(kMaxWordBytes);
    State& first = states_.emplace_back();
    for (std::size_t d = 0; d <= most; ++d) first[d] = ((std::uint64_t{1} << (d + 1)) - 1) & all_;
}

std::size_t EditAutomaton::grow(std::string_view text) {
    while (states_.size() <= text.size()) {
        const std::size_t read = states_.size() - 1;
        const State before = states_.back();
        if (before[most_] == 0) return read;
        const std::uint64_t here = places_[static_cast<unsigned char>(text[read])];
        State& next = states_.emplace_back();
        next[0] = (before[0] & here) << 1;
        for (std::size_t d = 1; d <= most_; ++d) {
            const std::uint64_t fewer = before[d - 1];
            next[d] = (before[d] & here) << 1 | fewer | (fewer | next[d - 1]) << 1;
        }
        if (read > 0) {
            const State& two_before = states_[read - 1];
            const std::uint64_t swapped =
                here & places_[static_cast<unsigned char>(text[read - 1])] >> 1;
            for (std::size_t d = 1; d <= most_; ++d) {
                // The text may lack a byte of the word that follows the swapped ones.
                next[d] |= (two_before[d - 1] & swapped) << 2 | next[d - 1] << 1;
            }
        }
        for (std::uint64_t& row : next) row &= all_;
    }
    return states_.back()[most_] == 0 ? text.size() : std::string_view::npos;
}

std::size_t EditAutomaton::distance() const noexcept {
    for (std::size_t d = 0; d <= most_; ++d) {
        if ((states_.back()[d] & accepted_) != 0) return d;
    }
    return most_ + 1;
}

}  // namespace braid::core
