#include "braid/text/language.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "braid/text/analyzer.hpp"

namespace braid::text {
namespace {

TEST(ForeignLanguage, IsToldByItsSmallWordsOrItsScript) {
    EXPECT_EQ(foreign_language("wie hoch ist der Berg?"), "German");
    EXPECT_EQ(foreign_language("quelle est la hauteur de la montagne"), "French");
    EXPECT_EQ(foreign_language("¿Cuál es la altura de la montaña?"), "Spanish");
    EXPECT_EQ(foreign_language("hoe hoog zijn de bergen van Nepal"), "Dutch");
    EXPECT_EQ(foreign_language("как высока гора"), "a script other than Latin");
    EXPECT_EQ(foreign_language("那座山有多高"), "a script other than Latin");
    EXPECT_EQ(foreign_language("ภูเขาสูงแค่ไหน"), "a script other than Latin");
}

TEST(ForeignLanguage, IsNotTakenForGranted) {
    for (const char* const text :
         {"", "how high is the mountain?", "error E4021 in get_name", "Berg", "die hard",
          "der Spiegel", "que sera", "where is the de la Cruz house?", "α decay of the nucleus",
          "what does \"das Auto\" mean?", "1234 5678", "\xff\xfe\xff", "El Niño and La Niña"}) {
        EXPECT_FALSE(foreign_language(text)) << text;
    }
}

TEST(LanguageOf, IsThatOfMostSmallWords) {
    EXPECT_EQ(language_clues("The keeper of the lamp walks to the harbour.").told, "english");
    EXPECT_EQ(language_clues("Der Hafen ist im Winter frei, und die Boote liegen am Ufer.").told,
              "german");
    EXPECT_EQ(language_clues("Корабли стоят в гавани и не идут на север, потому что зима.").told,
              "russian");
    EXPECT_EQ(language_clues("Ο φάρος είναι στο λιμάνι και το φως του είναι για τα πλοία.").told,
              "greek");
    EXPECT_EQ(language_clues("Båtarna ligger i hamnen och väntar på våren, som är sen.").told,
              "swedish");
    EXPECT_EQ(language_clues("lighthouse harbour 4711").told, "");
    EXPECT_EQ(language_clues("").told, "");
    EXPECT_EQ(language_clues(std::string(100'000, 'x')).told, "");
    EXPECT_EQ(language_clues("\xff\xfe der und das \xff").told, "german");
}

TEST(LanguageOf, AScriptHasItsLanguages) {
    EXPECT_EQ(language_clues("Leuchtturm").of_script.front(), "english");
    EXPECT_GT(language_clues("Leuchtturm").of_script.size(), 15U);
    EXPECT_EQ(language_clues("маяк").of_script.size(), 1U);
    EXPECT_EQ(language_clues("灯台").of_script.front(), "none");
}

TEST(LanguageOf, EachHasAStemmer) {
    for (const char* const text : {"a", "маяк", "φάρος", "փարոս", "ليل", "दिन", "நாள்", "טאג"}) {
        for (const std::string_view language : language_clues(text).of_script) {
            EXPECT_TRUE(Analyzer::create({"standard", std::string(language), false})) << language;
        }
    }
}

Analyzer auto_analyzer() {
    auto made = Analyzer::create({"standard", "auto", false});
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
}

TEST(AutoAnalyzer, StemsEachTextInItsOwnLanguage) {
    const Analyzer analyzer = auto_analyzer();
    const auto german = Analyzer::create({"standard", "german", false});
    const auto english = Analyzer::create({"standard", "english", false});
    const std::string de = "Die Häuser stehen auf den Hügeln, und die Gärten liegen davor.";
    const std::string en = "The houses stand on the hills, and their gardens lie before them.";
    EXPECT_EQ(analyzer.terms(de), german->terms(de));
    EXPECT_EQ(analyzer.terms(en), english->terms(en));
    // A title says little: it is analyzed as its chunk is.
    EXPECT_EQ(analyzer.for_text(de).terms("Häuser"), german->terms("Häuser"));
    EXPECT_EQ(analyzer.terms("E4021 get_name"), english->terms("E4021 get_name"));
}

TEST(AutoAnalyzer, LooksForTheWordsOfAQueryInEveryLanguageTheyMayBeIn) {
    const Analyzer analyzer = auto_analyzer();
    const auto held = [&](const std::string& query, std::string_view language) {
        const auto own = Analyzer::create({"standard", std::string(language), false});
        const auto searched = analyzer.query_terms(query);
        for (const std::string& term : own->query_terms(query)) {
            EXPECT_EQ(std::ranges::count(searched, term), 1) << language << ": " << term;
        }
        return searched.size();
    };
    for (const char* const language : {"english", "german", "french", "finnish", "none"}) {
        EXPECT_LE(held("Häuser Gärten", language), 12U);
    }
    // Its small words tell, and are not searched for.
    EXPECT_EQ(std::ranges::count(analyzer.query_terms("wie hoch ist der Berg"), "der"), 0);
    held("wie hoch ist der Berg", "german");
    EXPECT_FALSE(analyzer.query_terms("der die das").empty());
}

}  // namespace
}  // namespace braid::text
