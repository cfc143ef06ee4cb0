#include "braid/engine/language_guess.hpp"

#include <string>

#include <gtest/gtest.h>

namespace braid::engine {
namespace {

std::optional<std::string> guess(const std::string& sentence) {
    LanguageGuess language;
    for (int i = 0; i < 40; ++i) language.add(sentence);
    return language.foreign();
}

TEST(LanguageGuess, TakesEnglishAndCodeAsTheyAre) {
    EXPECT_EQ(guess("The keeper of the lamp walks to the harbour with a letter from the north."),
              std::nullopt);
    EXPECT_EQ(guess("int main(int argc, char** argv) { return run(argc, argv); }"), std::nullopt);
    EXPECT_EQ(guess("4711 0815 2021-03-03"), std::nullopt);
}

TEST(LanguageGuess, NamesTheLanguage) {
    EXPECT_EQ(guess("Der Hafen ist im Winter nicht frei, und die Boote liegen auf dem Eis."),
              "German");
    EXPECT_EQ(guess("Les bateaux sont dans le port pour une nuit, et le gardien est avec eux."),
              "French");
    EXPECT_EQ(guess("Los barcos que llegan por la noche son para el puerto del norte."), "Spanish");
    EXPECT_EQ(guess("Корабли стоят в гавани всю зиму."), "a script other than Latin");
    EXPECT_EQ(guess("船は冬の間ずっと港に停泊している。"), "a script other than Latin");
}

TEST(LanguageGuess, WaitsForEnoughText) {
    LanguageGuess language;
    language.add("Der Hafen ist nicht frei.");
    EXPECT_EQ(language.foreign(), std::nullopt);
}

}  // namespace
}  // namespace braid::engine
