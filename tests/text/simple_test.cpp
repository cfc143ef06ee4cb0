#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <utf8proc.h>

#include "braid/core/utf8.hpp"
#include "text/analysis.hpp"

namespace braid::text {
namespace {

using Terms = std::vector<std::string>;

TEST(SimpleAnalyzer, FindsWhatPythonFinds) {
    const Analyzer simple = simple_analyzer();
    EXPECT_EQ(simple.terms("Use CSRF tokens; OAuth2 isn't_enough"),
              (Terms{"use", "csrf", "tokens", "oauth2", "isn", "t_enough"}));
    EXPECT_EQ(simple.terms("Café naïve Straße"), (Terms{"café", "naïve", "straße"}));
    EXPECT_EQ(simple.terms("x² ½ Ⅷ 東京 한국"), (Terms{"x²", "½", "ⅷ", "東京", "한국"}));
    EXPECT_EQ(simple.terms("cafe\u0301 s"), (Terms{"cafe", "s"}));  // a mark is no word character
    EXPECT_EQ(simple.terms("İstanbul"), (Terms{"i", "stanbul"}));
    EXPECT_EQ(simple.terms("ΣΊΣΥΦΟΣ Σ aΣ. aΣ.b Σa"),
              (Terms{"σίσυφος", "σ", "aς", "aσ", "b", "σa"}));
    EXPECT_EQ(simple.terms(" \t.,;"), Terms{});
    EXPECT_EQ(simple.terms(""), Terms{});
}

TEST(SimpleAnalyzer, TakesInvalidBytesForSeparators) {
    const Analyzer simple = simple_analyzer();
    EXPECT_EQ(simple.terms("ab\xFF"
                           "cd \xE2\x82 ef\xC3"),
              (Terms{"ab", "cd", "ef"}));
}

TEST(SimpleAnalyzer, GivesOffsetsIntoTheTextAsItWasWritten) {
    const auto tokens = tokens_of(simple_analyzer(), "ÀB, İx");
    ASSERT_EQ(tokens.size(), 3U);
    EXPECT_EQ(tokens[0], (Token{"àb", 0, 0, 3}));
    EXPECT_EQ(tokens[1], (Token{"i", 1, 5, 7}));
    EXPECT_EQ(tokens[2], (Token{"x", 2, 7, 8}));
}

TEST(SimpleAnalyzer, CutsWordsLongerThanATermMayBe) {
    const auto tokens = tokens_of(simple_analyzer(), std::string(100'000, 'A').append(" b"));
    ASSERT_EQ(tokens.size(), 2U);
    EXPECT_EQ(tokens[0].term, std::string(kMaxTermBytes, 'a'));
    EXPECT_EQ(tokens[0].end, 100'000U);
}

/// What `command` prints, line by line; empty if it cannot be run.
std::vector<std::string> lines_of(const std::string& command) {
    std::vector<std::string> lines;
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    if (pipe == nullptr) return lines;
    std::string all;
    std::vector<char> block(1U << 16U);
    while (const std::size_t size = std::fread(block.data(), 1, block.size(), pipe.get())) {
        all.append(block.data(), size);
    }
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = std::min(all.find('\n', at), all.size());
        lines.push_back(all.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

std::vector<std::string> split_tabs(std::string_view line) {
    std::vector<std::string> fields;
    for (std::size_t at = 0; at <= line.size();) {
        const std::size_t tab = std::min(line.find('\t', at), line.size());
        fields.emplace_back(line.substr(at, tab - at));
        at = tab + 1;
    }
    return fields;
}

/// False if a character is newer than the Unicode tables we are linked with.
bool all_assigned(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto [c, length] = core::decode_at(text, at);
        if (utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_CN) {
            return false;
        }
        at += length;
    }
    return true;
}

TEST(SimpleAnalyzer, AgreesWithPythonOnAllOfUnicode) {
    static constexpr int kSeed = 2025;
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
    const auto lines = lines_of("python3 '" BRAID_TEXT_TESTS "/python_words.py' " +
                                std::to_string(kSeed) + " 2>/dev/null");
    if (lines.empty()) GTEST_SKIP() << "python3 is needed to compare with";
    const Analyzer simple = simple_analyzer();
    std::size_t compared = 0;
    for (const std::string& line : lines) {
        std::vector<std::string> fields = split_tabs(line);
        const std::string text = fields.front();
        if (!all_assigned(text)) continue;
        fields.erase(fields.begin());
        ASSERT_EQ(simple.terms(text), fields) << text;
        ++compared;
    }
    EXPECT_GT(compared, 30'000U);
}

}  // namespace
}  // namespace braid::text
