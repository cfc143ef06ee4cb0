#include "braid/text/language.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace braid::text
