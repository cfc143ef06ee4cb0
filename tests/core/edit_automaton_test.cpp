#include "braid/core/edit_automaton.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "braid/core/nearest.hpp"

namespace braid::core {
namespace {

std::string random_word(std::mt19937_64& rng, std::size_t longest) {
    std::string word(rng() % (longest + 1), 'a');
    for (char& c : word) c = static_cast<char>("abc\xC3"[rng() % 4]);
    return word;
}

TEST(EditAutomaton, CountsAsTheTableOfDistancesDoes) {
    std::mt19937_64 rng(11);
    for (int i = 0; i < 100'000; ++i) {
        const std::string word = random_word(rng, 9);
        const std::string text = random_word(rng, 9);
        const std::size_t most = rng() % (EditAutomaton::kMaxDistance + 1);
        EditAutomaton automaton(word, most);
        const bool hopeless = automaton.grow(text) != std::string_view::npos;
        const std::size_t distance = hopeless ? most + 1 : automaton.distance();
        ASSERT_EQ(distance, edit_distance(word, text, most)) << word << " " << text << " " << most;
    }
}

TEST(EditAutomaton, GoesOnFromAnySharedBeginning) {
    std::mt19937_64 rng(12);
    for (int i = 0; i < 2'000; ++i) {
        const std::string word = random_word(rng, 9);
        EditAutomaton automaton(word, 2);
        std::string text;
        for (int step = 0; step < 20; ++step) {
            const std::size_t kept = text.empty() ? 0 : rng() % (text.size() + 1);
            text = text.substr(0, kept) + random_word(rng, 5);
            automaton.shrink(kept);
            const bool hopeless = automaton.grow(text) != std::string_view::npos;
            const std::size_t distance = hopeless ? 3 : automaton.distance();
            ASSERT_EQ(distance, edit_distance(word, text, 2)) << word << " " << text;
        }
    }
}

TEST(EditAutomaton, TakesTheLongestWord) {
    const std::string word(EditAutomaton::kMaxWordBytes, 'x');
    EditAutomaton automaton(word, 2);
    EXPECT_EQ(automaton.grow(word), std::string_view::npos);
    EXPECT_EQ(automaton.distance(), 0U);
    EXPECT_EQ(automaton.grow(word + "xy"), std::string_view::npos);
    EXPECT_EQ(automaton.distance(), 2U);
    EXPECT_EQ(automaton.grow(word + "xyz"), word.size() + 3);
}

}  // namespace
}  // namespace braid::core
