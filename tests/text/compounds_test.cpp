#include <string_view>

#include <gtest/gtest.h>

#include "text/analysis.hpp"

namespace braid::text {
namespace {

void expect_terms(std::initializer_list<Case> cases) {
    const Analyzer analyzer = make_analyzer();
    for (const auto& [text, terms] : cases) EXPECT_EQ(shown(analyzer, text), terms) << text;
}

TEST(Compounds, APlainWordIsOneToken) {
    expect_terms({
        {"word", "word"},
        {"Word", "word"},
        {"WORD", "word"},
        {"(word)", "word"},
        {"word.", "word"},
        {"\"word\",", "word"},
        {"-word-", "word"},
        {"word's", "word"},
        {"words'", "word"},
        {"URLs", "url"},
        {"42", "42"},
    });
}

TEST(Compounds, IdentifiersGiveTheWholeAndTheParts) {
    expect_terms({
        {"getUserName", "getusernam|get user name"},
        {"GetUserName", "getusernam|get user name"},
        {"HTTPServer2", "httpserver2|http server 2"},
        {"parseHTTPResponse", "parsehttprespons|pars http respons"},
        {"HTML5Parser", "html5parser|html 5 parser"},
        {"snake_case_name", "snake_case_name|snake case name"},
        {"SCREAMING_SNAKE", "screaming_snake|scream snake"},
        {"__init__", "__init__|init"},
        {"_private", "_private|privat"},
        {"kebab-case", "kebab-case|kebab case"},
        {"foo.bar.Baz", "foo.bar.baz|foo bar baz"},
        {"std::vector", "std::vector|std vector"},
        {"CVE-2024-1234", "cve-2024-1234|cve 2024 1234"},
        {"user@example.com", "user@example.com|user exampl com"},
        {"first.last@mail.example.org", "first.last@mail.example.org|first last mail exampl org"},
        {"node.js", "node.js|node js"},
        {"AT&T", "at&t|at t"},
        {"приветМир", "приветмир|привет мир"},
    });
}

TEST(Compounds, KeepWhatIsAttachedToALanguageName) {
    expect_terms({
        {"C++", "c++|c"},
        {"C++.", "c++|c"},
        {"(C++)", "c++|c"},
        {"C#", "c#|c"},
        {"F#,", "f#|f"},
        {"C++17", "c++17|c++|c 17"},
        {"Objective-C++", "objective-c++|object c++|c"},
        {"C#.NET", "c#.net|c#|c net"},
        {".NET", ".net|net"},
        {"use .NET", "use .net|net"},
        {"ASP.NET", "asp.net|asp net"},
        {".gitignore", ".gitignore|gitignor"},
        {"a+b", "a b"},
        {"a++b", "a b"},
        {"page#top", "page top"},
        {"5+", "5"},
        {"foo().bar()", "foo bar"},
        {"...then", "then"},
    });
}

TEST(Compounds, CaseDoesNotDecideWhetherAWordIsFound) {
    const Analyzer analyzer = make_analyzer();
    for (const auto& [written, plain] :
         {Case{"iPhones", "iphone"}, Case{"GitHub", "github"}, Case{"YouTube", "youtube"},
          Case{"PostgreSQL", "postgresql"}, Case{"McDonald's", "mcdonalds"}}) {
        EXPECT_EQ(analyzer.terms(written).front(), analyzer.terms(plain).front());
    }
}

TEST(Compounds, ApostrophesStayInContractionsAndJoinNames) {
    expect_terms({
        {"don't", "don't"},
        {"don’t", "don't"},
        {"DON'T", "don't"},
        {"we're", "we'r"},
        {"John's", "john"},
        {"John’s", "john"},
        {"O'Neil", "o'neil|o neil"},
        {"O'Reilly's", "o'reilly|o reilli"},
        {"l'homme", "l'homme|l homm"},
        {"mother-in-law's", "mother-in-law|mother in law"},
        {"'quoted'", "quot"},
        {"6'2", "6 2"},
    });
}

TEST(Compounds, NumbersStayWhole) {
    expect_terms({
        {"3.14", "3.14"},
        {"1,000", "1,000|1000"},
        {"12,345,678.90", "12,345,678.90|12345678.90"},
        {"3,14", "3,14"},
        {"1,2,3", "1,2,3"},
        {"1000,000", "1000,000"},
        {"1.2.3", "1.2.3"},
        {"v1.2.3", "v1.2.3|v 1.2.3"},
        {"192.168.0.1", "192.168.0.1"},
        {"2024-01-15", "2024-01-15|2024 01 15"},
        {"10:30", "10 30"},
        {"99.", "99"},
        {"1,", "1"},
        {"$5.00", "5.00"},
        {"-7", "7"},
    });
}

TEST(Compounds, LettersAndDigitsPartWhereTheyMeetOnce) {
    expect_terms({
        {"utf8", "utf8|utf 8"},
        {"UTF-8", "utf-8|utf 8"},
        {"covid19", "covid19|covid 19"},
        {"5kg", "5kg|5 kg"},
        {"k8s", "k8s"},
        {"sha256sum", "sha256sum"},
        {"deadbeef00c0ffee", "deadbeef00c0ffee"},
        {"x86_64", "x86_64|x 86 64"},
    });
}

TEST(Compounds, InitialsAreOneWord) {
    expect_terms({
        {"U.S.A.", "usa"},
        {"U.S.", "us"},
        {"e.g.,", "eg"},
        {"J.R.R. Tolkien", "jrr tolkien"},
        {"U.S.-based", "us base"},
    });
}

TEST(Compounds, OtherPunctuationSeparates) {
    expect_terms({
        {"and/or", "and or"},
        {"key:value", "key valu"},
        {"a--b", "a b"},
        {"wait...what", "wait what"},
        {"path/to/file.txt", "path to file.txt|file txt"},
        {"http://example.com/a?x=1&y=2", "http example.com|exampl com a x 1 y 2"},
        {"2010–2020", "2010 2020"},
        {"______", ""},
        {"name______", "name"},
        {"@user #tag $var", "user tag var"},
        {"a-", "a"},
        {"a-_b", "a _b|b"},
    });
}

TEST(Compounds, GiveEachPartItsBytesInTheText) {
    const auto tokens = tokens_of(make_analyzer(), "see getÜserName.");
    EXPECT_EQ(tokens, (std::vector<Token>{{"see", 0, 0, 3},
                                          {"getusernam", 1, 4, 16},
                                          {"get", 1, 4, 7},
                                          {"user", 2, 7, 12},
                                          {"name", 3, 12, 16}}));
}

TEST(Compounds, LongOnesAreCutAndEndAtAJoiner) {
    const Analyzer analyzer = make_analyzer("none");
    const auto cut = tokens_of(analyzer, std::string(300, 'x').append(" y"));
    ASSERT_EQ(cut.size(), 2U);
    EXPECT_EQ(cut[0].term, std::string(kMaxTermBytes, 'x'));
    EXPECT_EQ(cut[0].end, 300U);
    // A character is never cut in two: 255 bytes hold 127 of these.
    std::string umlauts;
    for (int i = 0; i < 300; ++i) umlauts += "ж";
    EXPECT_EQ(analyzer.terms(umlauts).at(0).size(), 254U);

    std::string chain;
    for (int i = 0; i < 1000; ++i) chain += "part.";
    std::size_t parts = 0;
    for (const Token& token : tokens_of(analyzer, chain)) {
        EXPECT_LE(token.term.size(), kMaxTermBytes);
        parts += token.term == "part" ? 1 : 0;
    }
    EXPECT_EQ(parts, 1000U);
}

}  // namespace
}  // namespace braid::text
