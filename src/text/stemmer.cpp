#include "braid/text/stemmer.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include <libstemmer.h>

#include "braid/core/nearest.hpp"

namespace braid::text {
namespace {

constexpr std::size_t kRemembered = 8192;  // a power of two

struct LanguageCodes {
    std::string_view name;
    std::string_view two;
    std::string_view three;
    std::string_view other_three;  // the bibliographic code, where it differs
};

constexpr LanguageCodes kCodes[] = {
    {"arabic", "ar", "ara", ""},       {"armenian", "hy", "hye", "arm"},
    {"basque", "eu", "eus", "baq"},    {"catalan", "ca", "cat", ""},
    {"danish", "da", "dan", ""},       {"dutch", "nl", "nld", "dut"},
    {"english", "en", "eng", ""},      {"finnish", "fi", "fin", ""},
    {"french", "fr", "fra", "fre"},    {"german", "de", "deu", "ger"},
    {"greek", "el", "ell", "gre"},     {"hindi", "hi", "hin", ""},
    {"hungarian", "hu", "hun", ""},    {"indonesian", "id", "ind", ""},
    {"irish", "ga", "gle", ""},        {"italian", "it", "ita", ""},
    {"lithuanian", "lt", "lit", ""},   {"nepali", "ne", "nep", ""},
    {"norwegian", "no", "nor", "nob"}, {"norwegian", "nb", "nno", ""},
    {"norwegian", "nn", "", ""},       {"portuguese", "pt", "por", ""},
    {"romanian", "ro", "ron", "rum"},  {"russian", "ru", "rus", ""},
    {"serbian", "sr", "srp", ""},      {"spanish", "es", "spa", ""},
    {"swedish", "sv", "swe", ""},      {"tamil", "ta", "tam", ""},
    {"turkish", "tr", "tur", ""},      {"yiddish", "yi", "yid", ""},
};

std::uint64_t hash_of(std::string_view word) noexcept {
    return std::hash<std::string_view>{}(word);
}

}  // namespace

void Stemmer::Delete::operator()(sb_stemmer* stemmer) const noexcept {
    sb_stemmer_delete(stemmer);
}

Stemmer::Stemmer(std::string_view language) {
    if (language == "none") return;
    stemmer_.reset(sb_stemmer_new(std::string(language).c_str(), nullptr));
    memory_.resize(kRemembered);
}

void Stemmer::stem(std::string& word) {
    if (stemmer_ == nullptr) return;
    if (word.size() > Remembered::kBytes) {
        stem_unremembered(word);
        return;
    }
    Remembered& slot = memory_[hash_of(word) & (kRemembered - 1)];
    if (slot.word_size == word.size() &&
        std::memcmp(slot.word.data(), word.data(), word.size()) == 0) {
        word.assign(slot.stem.data(), slot.stem_size);
        return;
    }
    Remembered fresh;
    fresh.word_size = static_cast<std::uint8_t>(word.size());
    std::ranges::copy(word, fresh.word.begin());
    stem_unremembered(word);
    if (word.size() > Remembered::kBytes) return;
    fresh.stem_size = static_cast<std::uint8_t>(word.size());
    std::ranges::copy(word, fresh.stem.begin());
    slot = fresh;
}

void Stemmer::stem_unremembered(std::string& word) {
    const auto* bytes = reinterpret_cast<const sb_symbol*>(word.data());
    const sb_symbol* stemmed =
        sb_stemmer_stem(stemmer_.get(), bytes, static_cast<int>(word.size()));
    const int length = sb_stemmer_length(stemmer_.get());
    // Null when out of memory. A stem of nothing would make all such words one.
    if (stemmed == nullptr || length <= 0) return;
    word.assign(reinterpret_cast<const char*>(stemmed), static_cast<std::size_t>(length));
}

std::span<const std::string_view> stemmer_languages() noexcept {
    static const std::vector<std::string_view> kLanguages = [] {
        std::vector<std::string_view> names{"none"};
        for (const char** name = sb_stemmer_list(); *name != nullptr; ++name) {
            names.emplace_back(*name);
        }
        std::ranges::sort(names);
        return names;
    }();
    return kLanguages;
}

std::optional<std::string_view> language_by_name(std::string_view name) {
    static constexpr std::size_t kLongestCode = 3;
    std::string lower = core::ascii_lower(name.substr(0, 64));
    const std::size_t region = lower.find_first_of("-_");
    if (region != std::string::npos && region <= kLongestCode) lower.resize(region);
    const auto known = stemmer_languages();
    const auto known_name = [&](std::string_view wanted) -> std::optional<std::string_view> {
        const auto found = std::ranges::find(known, wanted);
        if (found == known.end()) return std::nullopt;
        return *found;
    };
    if (lower.empty()) return std::nullopt;
    for (const LanguageCodes& codes : kCodes) {
        if (lower == codes.two || lower == codes.three || lower == codes.other_three) {
            return known_name(codes.name);
        }
    }
    return known_name(lower);
}

}  // namespace braid::text
