#include "braid/engine/language_guess.hpp"

#include <algorithm>
#include <span>

namespace braid::engine {
namespace {

struct Language {
    std::string_view name;
    std::array<std::string_view, 12> words;  // frequent, short, and rare in the others
};

constexpr std::array<Language, 7> kLanguageWords{{
    {"English",
     {"the", "of", "and", "to", "is", "that", "for", "with", "was", "are", "this", "from"}},
    {"German",
     {"der", "und", "das", "ist", "nicht", "mit", "ein", "eine", "den", "von", "auf", "sich"}},
    {"French",
     {"les", "des", "est", "une", "dans", "que", "pour", "qui", "sur", "pas", "avec", "aux"}},
    {"Spanish",
     {"el", "los", "las", "una", "que", "por", "con", "para", "del", "como", "pero", "su"}},
    {"Italian",
     {"il", "che", "di", "una", "per", "non", "con", "del", "sono", "gli", "della", "nel"}},
    {"Dutch",
     {"het", "een", "van", "dat", "niet", "met", "voor", "zijn", "ook", "maar", "naar", "wordt"}},
    {"Portuguese",
     {"os", "uma", "para", "com", "que", "do", "da", "em", "mais", "como", "dos", "pelo"}},
}};

bool is_ascii_letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

void LanguageGuess::add(std::string_view text) {
    std::string word;
    for (const char byte : text) {
        const auto c = static_cast<unsigned char>(byte);
        // Lead bytes up to 0xC8 are Latin with accents; those above begin other scripts.
        if (is_ascii_letter(c) || (c >= 0xC3 && c <= 0xC8)) ++latin_letters_;
        if (c >= 0xCD) ++other_letters_;
        if (is_ascii_letter(c) || c >= 0x80) {
            word += is_ascii_letter(c) ? static_cast<char>(c | 0x20U) : byte;
            continue;
        }
        count_word(word);
        word.clear();
    }
    count_word(word);
}

void LanguageGuess::count_word(std::string_view word) {
    if (word.empty()) return;
    ++words_;
    for (std::size_t i = 0; i < kLanguageWords.size(); ++i) {
        const auto& known = kLanguageWords[i].words;
        small_words_[i] += std::ranges::find(known, word) != known.end();
    }
}

std::optional<std::string> LanguageGuess::foreign() const {
    constexpr std::uint64_t enough_letters = 500;
    constexpr std::uint64_t enough_words = 150;
    const std::uint64_t letters = latin_letters_ + other_letters_;
    if (letters >= enough_letters && other_letters_ * 2 > letters) {
        return "a script other than Latin";
    }
    if (words_ < enough_words) return std::nullopt;
    const auto best = std::ranges::max_element(small_words_);
    const bool english_too = *best < small_words_.front() * 2;
    const bool prose = *best * 16 > words_;
    if (best == small_words_.begin() || english_too || !prose) return std::nullopt;
    return std::string(kLanguageWords[static_cast<std::size_t>(best - small_words_.begin())].name);
}

}  // namespace braid::engine
