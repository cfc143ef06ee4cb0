#include "braid/text/language.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace braid::text {
namespace {

using Words = std::span<const std::string_view>;

// Frequent in questions, and rare or without another meaning in the other languages.
constexpr auto kEnglish = std::to_array<std::string_view>(
    {"the",  "of",   "and", "to",  "is",  "that", "for",   "with",  "was",  "are", "this",
     "from", "what", "who", "how", "why", "when", "which", "where", "does", "did", "do",
     "can",  "has",  "it",  "by",  "on",  "in",   "be",    "a",     "an",   "as",  "at"});
constexpr auto kGerman = std::to_array<std::string_view>(
    {"der",    "die",     "das",     "und",  "ist", "nicht", "mit", "ein",   "eine",
     "den",    "von",     "auf",     "sich", "wie", "wer",   "wo",  "wann",  "warum",
     "welche", "welcher", "welches", "dem",  "des", "zu",    "im",  "wurde", "f\xc3\xbcr"});
constexpr auto kFrench = std::to_array<std::string_view>(
    {"les",     "des",      "est",     "une",   "dans", "que", "pour",      "qui",
     "sur",     "pas",      "avec",    "aux",   "le",   "la",  "quel",      "quelle",
     "comment", "pourquoi", "combien", "quand", "du",   "et",  "o\xc3\xb9", "sont"});
constexpr auto kSpanish = std::to_array<std::string_view>({"el",
                                                           "los",
                                                           "las",
                                                           "una",
                                                           "que",
                                                           "por",
                                                           "con",
                                                           "para",
                                                           "del",
                                                           "como",
                                                           "pero",
                                                           "su",
                                                           "qu\xc3\xa9",
                                                           "c\xc3\xb3mo",
                                                           "cu\xc3\xa1l",
                                                           "cu\xc3\xa1ndo",
                                                           "cu\xc3\xa1ntos",
                                                           "d\xc3\xb3nde",
                                                           "qui\xc3\xa9n",
                                                           "la",
                                                           "en",
                                                           "es",
                                                           "y",
                                                           "de"});
constexpr auto kItalian = std::to_array<std::string_view>(
    {"il",     "che",           "di",  "una",   "per",    "non",     "con",
     "del",    "sono",          "gli", "della", "nel",    "come",    "quale",
     "quando", "perch\xc3\xa9", "chi", "dove",  "quanti", "\xc3\xa8"});
constexpr auto kDutch = std::to_array<std::string_view>(
    {"het", "een", "van", "dat", "niet", "met", "voor", "zijn", "ook", "maar", "naar", "wordt",
     "waarom", "welke", "hoe", "wie", "waar", "wanneer", "de"});
constexpr auto kPortuguese = std::to_array<std::string_view>(
    {"os",   "uma",  "para", "com",        "que",      "do",        "da",
     "em",   "mais", "como", "dos",        "pelo",     "qual",      "quando",
     "quem", "onde", "por",  "n\xc3\xa3o", "\xc3\xa9", "s\xc3\xa3o"});

struct Language {
    std::string_view name;
    Words words;
};
constexpr std::array<Language, 6> kOthers{{{"German", kGerman},
                                           {"French", kFrench},
                                           {"Spanish", kSpanish},
                                           {"Italian", kItalian},
                                           {"Dutch", kDutch},
                                           {"Portuguese", kPortuguese}}};

bool is_ascii_letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

struct Counts {
    std::size_t latin = 0;  // letters
    std::size_t other = 0;
    std::size_t english = 0;  // small words
    std::array<std::size_t, kOthers.size()> foreign{};
};

void count_word(std::string_view word, Counts& counts) {
    if (word.empty()) return;
    const auto holds = [&](Words words) { return std::ranges::find(words, word) != words.end(); };
    counts.english += holds(kEnglish) ? 1 : 0;
    for (std::size_t i = 0; i < kOthers.size(); ++i) {
        counts.foreign[i] += holds(kOthers[i].words) ? 1 : 0;
    }
}

Counts count(std::string_view question) {
    Counts counts;
    std::string word;
    for (const char byte : question) {
        const auto c = static_cast<unsigned char>(byte);
        // Lead bytes 0xC3 to 0xC8 are Latin with accents; those from 0xCD on begin other scripts.
        if (is_ascii_letter(c) || (c >= 0xC3 && c <= 0xC8)) ++counts.latin;
        if (c >= 0xCD && c <= 0xF4) ++counts.other;
        if (is_ascii_letter(c) || (c >= 0x80 && c != 0xC2)) {
            word += is_ascii_letter(c) ? static_cast<char>(c | 0x20U) : byte;
            continue;
        }
        count_word(word, counts);
        word.clear();
    }
    count_word(word, counts);
    return counts;
}

}  // namespace

std::optional<std::string_view> foreign_language(std::string_view question) {
    constexpr std::size_t kEnoughLetters = 2;
    constexpr std::size_t kEnoughWords = 2;
    const Counts counts = count(question);
    if (counts.other >= kEnoughLetters && counts.other > counts.latin) {
        return "a script other than Latin";
    }
    const auto best = std::ranges::max_element(counts.foreign);
    if (*best < kEnoughWords || *best <= 2 * counts.english) return std::nullopt;
    return kOthers[static_cast<std::size_t>(best - counts.foreign.begin())].name;
}

}  // namespace braid::text
