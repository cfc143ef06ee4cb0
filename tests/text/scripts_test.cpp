#include <string_view>

#include <gtest/gtest.h>

#include "text/analysis.hpp"

namespace braid::text {
namespace {

TEST(StandardAnalyzer, FindsWordsOfSpacedScripts) {
    const Analyzer analyzer = make_analyzer("none");
    for (const auto& [text, terms] : {
             Case{"Hello, World!", "hello world"},
             Case{"Привет, МИР! Ёлка", "привет мир елка"},
             Case{"ΣΊΣΥΦΟΣ Σίσυφος", "σισυφοσ σισυφοσ"},
             Case{"שָׁלוֹם שלום", "שלום שלום"},
             Case{"مـــرحبا مرحبا", "مرحبا مرحبا"},
             Case{"हिन्दी में", "हिन्दी में"},
             Case{"தமிழ் மொழி", "தமிழ் மொழி"},
             Case{"Հայերեն ქართული አማርኛ", "հայերեն ქართული አማርኛ"},
             Case{"¿Qué? ¡Adiós!", "que adios"},
             Case{"", ""},
             Case{" \t\n…—!?", ""},
         }) {
        EXPECT_EQ(shown(analyzer, text), terms);
    }
}

TEST(StandardAnalyzer, PairsCharactersOfUnspacedScripts) {
    const Analyzer analyzer = make_analyzer();
    for (const auto& [text, terms] : {
             Case{"中文分词", "中文 文分 分词"},
             Case{"水", "水"},
             Case{"水。火", "水 火"},
             Case{"人々", "人々"},
             Case{"東京タワー", "東京 タワ ワー"},
             Case{"私は学生です", "私 は 学生 です"},
             Case{"한국어 검색", "한국 국어 검색"},
             Case{"서울에서", "서울 울에 에서"},
             Case{"나", "나"},
             Case{"ลาว", "ลา าว"},
             Case{"ที่นี่", "ที่นี่"},  // two characters, each with its marks
             Case{"ພາສາ", "ພາ າສ ສາ"},
             Case{"ខ្មែរ", "ខ្មែ មែរ"},
             Case{"မြန်မာ", "မြန် န်မာ"},
             Case{"𠀀𠀁", "𠀀𠀁"},
         }) {
        EXPECT_EQ(shown(analyzer, text), terms) << text;
    }
}

TEST(StandardAnalyzer, SplitsMixedRunsWhereTheScriptChanges) {
    const Analyzer analyzer = make_analyzer();
    EXPECT_EQ(shown(analyzer, "東京Tower"), "東京 tower");
    EXPECT_EQ(shown(analyzer, "iPhoneを買う"), "iphon|i phone を 買 う");
    EXPECT_EQ(shown(analyzer, "2024年12月"), "2024 年 12 月");
    EXPECT_EQ(shown(analyzer, "ภาษาC++"), "ภา าษ ษา c++|c");
    EXPECT_EQ(shown(analyzer, "漢字-kanji"), "漢字 kanji");
    EXPECT_EQ(shown(analyzer, "kanji-漢字"), "kanji 漢字");
}

TEST(StandardAnalyzer, PutsPairsAtSuccessivePositionsWithTheirBytes) {
    EXPECT_EQ(tokens_of(make_analyzer(), "a 東京都 b"),
              (std::vector<Token>{
                  {"a", 0, 0, 1}, {"東京", 1, 2, 8}, {"京都", 2, 5, 11}, {"b", 3, 12, 13}}));
}

TEST(StandardAnalyzer, FoldsCompatibilityForms) {
    const Analyzer analyzer = make_analyzer("none");
    for (const auto& [text, terms] : {
             Case{"ＡＢＣ", "abc"},
             Case{"ｶﾞﾗｽ", "ガラ ラス"},
             Case{"か\u3099く", "がく"},                            // composed with its mark
             Case{"\u1112\u1161\u11AB\u1100\u1173\u11AF", "한글"},  // Hangul letter by letter
             Case{"ﬁnd", "find"},
             Case{"Straße STRASSE", "strasse strasse"},
             Case{"x² E=mc²", "x2|x 2 e mc2|mc 2"},
             Case{"①②", "12"},
             Case{"３．１４", "3.14"},
             Case{"3½", "3 1 2"},
             Case{"㎏ ㏂", "kg am"},
             Case{"Braid™ ©2024", "braid 2024"},
             Case{"١٢٣ १२३ ๑๒๓", "123 123 123"},
             Case{"ﷺ", "صلى الله عليه وسلم"},
             Case{"so\u00ADft zero\u200Bwidth no\u200Dbreak", "soft zero width nobreak"},
             Case{"\uFEFFfirst \u202Ertl\u202C", "first rtl"},
         }) {
        EXPECT_EQ(shown(analyzer, text), terms) << text;
    }
}

TEST(StandardAnalyzer, GivesTheSameTermsForComposedAndDecomposedText) {
    const Analyzer analyzer = make_analyzer("french");
    EXPECT_EQ(shown(analyzer, "e\u0301le\u0300ve"), shown(analyzer, "élève"));
    EXPECT_EQ(shown(make_analyzer("none"), "क\u093c\u094d"),
              shown(make_analyzer("none"), "क\u094d\u093c"));
}

TEST(StandardAnalyzer, MakesAWordOfEachPictographAndFlag) {
    const Analyzer analyzer = make_analyzer();
    EXPECT_EQ(shown(analyzer, "ship it 🚀👍🏽"), "ship it 🚀 👍");
    EXPECT_EQ(shown(analyzer, "🇩🇪 vs 🇫🇷"), "🇩🇪 vs 🇫🇷");
    EXPECT_EQ(shown(analyzer, "1️⃣"), "1");
    EXPECT_EQ(shown(analyzer, "© ® ™ → ∑ € §"), "");
}

TEST(StandardAnalyzer, StemsEachLanguageItKnows) {
    struct Pair {
        std::string_view language, one, other;
    };
    for (const auto& [language, one, other] : {
             Pair{"english", "connections", "connected"},
             Pair{"german", "Häuser", "Haus"},
             Pair{"french", "chanteront", "chanterait"},
             Pair{"spanish", "canciones", "canción"},
             Pair{"italian", "ragazze", "ragazzi"},
             Pair{"portuguese", "livros", "livro"},
             Pair{"russian", "книгами", "книга"},
             Pair{"arabic", "الكتاب", "كتاب"},
             Pair{"swedish", "flickorna", "flicka"},
             Pair{"turkish", "kitaplar", "kitap"},
             Pair{"turkish", "ISPARTALI", "ıspartalı"},
             Pair{"greek", "άνθρωποι", "άνθρωπος"},
             Pair{"hindi", "लड़कियों", "लड़की"},
             Pair{"finnish", "taloissa", "talo"},
         }) {
        const Analyzer analyzer = make_analyzer(language);
        EXPECT_EQ(shown(analyzer, one), shown(analyzer, other)) << language;
        EXPECT_NE(shown(make_analyzer("none"), one), "");
    }
}

TEST(StandardAnalyzer, FindsAccentedWordsByPlainOnes) {
    for (const std::string_view language : {"english", "french", "german", "spanish", "none"}) {
        const Analyzer analyzer = make_analyzer(language);
        for (const auto& [accented, plain] : {Case{"Café", "cafe"}, Case{"naïve", "naive"},
                                              Case{"Łódź", "lodz"}, Case{"Tromsø", "tromso"}}) {
            EXPECT_EQ(shown(analyzer, accented), shown(analyzer, plain)) << language;
        }
    }
    EXPECT_EQ(shown(make_analyzer(), "résumés"), shown(make_analyzer(), "resume"));
}

}  // namespace
}  // namespace braid::text
