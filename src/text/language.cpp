#include "braid/text/language.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "braid/core/utf8.hpp"
#include "braid/text/stop_words.hpp"

namespace braid::text {
namespace {

constexpr std::size_t kLookedAt = 4096;  // bytes

enum class Script : std::uint8_t {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Hebrew,
    Arabic,
    Devanagari,
    Tamil,
    Other
};
constexpr std::size_t kScripts = static_cast<std::size_t>(Script::Other) + 1;

struct Language {
    std::string_view name;
    std::string_view shown;
    Script script = Script::Latin;
};
// English first: where nothing tells, it is that.
constexpr auto kLanguages = std::to_array<Language>({
    {"english", "English"},
    {"basque", "Basque"},
    {"catalan", "Catalan"},
    {"danish", "Danish"},
    {"dutch", "Dutch"},
    {"finnish", "Finnish"},
    {"french", "French"},
    {"german", "German"},
    {"hungarian", "Hungarian"},
    {"indonesian", "Indonesian"},
    {"irish", "Irish"},
    {"italian", "Italian"},
    {"lithuanian", "Lithuanian"},
    {"norwegian", "Norwegian"},
    {"portuguese", "Portuguese"},
    {"romanian", "Romanian"},
    {"serbian", "Serbian"},
    {"spanish", "Spanish"},
    {"swedish", "Swedish"},
    {"turkish", "Turkish"},
    {"greek", "Greek", Script::Greek},
    {"russian", "Russian", Script::Cyrillic},
    {"armenian", "Armenian", Script::Armenian},
    {"yiddish", "Yiddish", Script::Hebrew},
    {"arabic", "Arabic", Script::Arabic},
    {"hindi", "Hindi", Script::Devanagari},
    {"nepali", "Nepali", Script::Devanagari},
    {"tamil", "Tamil", Script::Tamil},
});
static_assert(kLanguages.size() <= 32);

/// Small words and the languages that have them, one bit each.
const std::unordered_map<std::string_view, std::uint32_t>& small_words() {
    static const auto known = [] {
        std::unordered_map<std::string_view, std::uint32_t> all;
        for (std::size_t i = 0; i < kLanguages.size(); ++i) {
            for (const std::string_view word : StopWords::of(kLanguages[i].name).words()) {
                all[word] |= std::uint32_t{1} << i;
            }
        }
        return all;
    }();
    return known;
}

/// Of a letter; Other for signs too.
Script script_of(char32_t c) noexcept {
    struct Range {
        char32_t first, last;
        Script script;
    };
    static constexpr auto kRanges = std::to_array<Range>({
        {U'A', U'Z', Script::Latin},
        {U'a', U'z', Script::Latin},
        {0x00C0, 0x024F, Script::Latin},
        {0x0370, 0x03FF, Script::Greek},
        {0x0400, 0x052F, Script::Cyrillic},
        {0x0531, 0x058F, Script::Armenian},
        {0x0591, 0x05F4, Script::Hebrew},
        {0x0600, 0x06FF, Script::Arabic},
        {0x0900, 0x097F, Script::Devanagari},
        {0x0B80, 0x0BFF, Script::Tamil},
        {0x1E00, 0x1EFF, Script::Latin},
        {0x1F00, 0x1FFF, Script::Greek},
    });
    for (const Range& range : kRanges) {
        if (c >= range.first && c <= range.last) return range.script;
    }
    return Script::Other;
}

bool is_ascii_letter(char32_t c) noexcept {
    return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
}

/// Digits do not: the letter of `E4021` is no word.
bool parts_words(char32_t c) noexcept {
    if (c < 0x80) return !is_ascii_letter(c) && !(c >= U'0' && c <= U'9') && c != U'_';
    return c < 0xC0 || (c >= 0x2000 && c <= 0x206F) || (c >= 0x3000 && c <= 0x303F);
}

struct Counts {
    std::array<std::size_t, kScripts> letters{};
    /// A small word counts 1, shared among the languages that have it.
    std::array<double, kLanguages.size()> scores{};
    std::array<std::size_t, kLanguages.size()> words{};

    void add_word(std::string_view word) {
        const auto found = small_words().find(word);
        if (found == small_words().end()) return;
        const double share = 1.0 / std::popcount(found->second);
        for (std::size_t i = 0; i < kLanguages.size(); ++i) {
            if ((found->second >> i & 1U) == 0) continue;
            scores[i] += share;
            ++words[i];
        }
    }
    Script script() const {
        return static_cast<Script>(std::ranges::max_element(letters) - letters.begin());
    }
};

Counts count(std::string_view text) {
    Counts counts;
    text = core::cut_at_most(text, kLookedAt);
    std::string word;
    for (std::size_t at = 0; at < text.size();) {
        const auto [c, length] = core::decode_at(text, at);
        if (c == core::kInvalidBytes || parts_words(c)) {
            counts.add_word(word);
            word.clear();
        } else {
            if (c >= 0x80 || is_ascii_letter(c)) {
                ++counts.letters[static_cast<std::size_t>(script_of(c))];
            }
            if (is_ascii_letter(c)) {
                word += static_cast<char>(c | 0x20U);
            } else {
                word += text.substr(at, length);
            }
        }
        at += length;
    }
    counts.add_word(word);
    return counts;
}

/// The language whose small words count most, if they are two and count clearly more than those of
/// any other.
const Language* most_likely(const Counts& counts) {
    constexpr std::size_t kEnoughWords = 2;
    constexpr double kClearly = 1.25;
    std::size_t best = 0;
    for (std::size_t i = 1; i < kLanguages.size(); ++i) {
        if (counts.scores[i] > counts.scores[best]) best = i;
    }
    if (counts.words[best] < kEnoughWords) return nullptr;
    if (kLanguages[best].script != counts.script()) return nullptr;  // words quoted among others
    for (std::size_t i = 0; i < kLanguages.size(); ++i) {
        if (i != best && counts.scores[best] < kClearly * counts.scores[i]) return nullptr;
    }
    return &kLanguages[best];
}

std::span<const std::string_view> languages_of(Script script) {
    static const auto all = [] {
        std::array<std::vector<std::string_view>, kScripts> languages;
        for (const Language& one : kLanguages) {
            languages[static_cast<std::size_t>(one.script)].push_back(one.name);
        }
        for (auto& names : languages) {
            if (names.empty()) names.emplace_back("none");
        }
        return languages;
    }();
    return all[static_cast<std::size_t>(script)];
}

}  // namespace

LanguageClues language_clues(std::string_view text) {
    const Counts counts = count(text);
    const Language* const found = most_likely(counts);
    return {.told = found == nullptr ? std::string_view() : found->name,
            .of_script = languages_of(counts.script())};
}

std::optional<std::string_view> foreign_language(std::string_view question) {
    constexpr std::size_t kEnoughLetters = 2;
    const Counts counts = count(question);
    const std::size_t latin = counts.letters[static_cast<std::size_t>(Script::Latin)];
    std::size_t other = 0;
    for (const std::size_t letters : counts.letters) other += letters;
    other -= latin;
    if (other >= kEnoughLetters && other > latin) return "a script other than Latin";
    const Language* const found = most_likely(counts);
    if (found == nullptr || found->name == "english") return std::nullopt;
    return found->shown;
}

}  // namespace braid::text
