#include "braid/embed/bert_normalizer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <utf8proc.h>

#include "braid/core/utf8.hpp"
#include "braid/embed/character_classes.hpp"

namespace braid::embed {
namespace {

constexpr char32_t kFirstWithDecomposition = 0xC0;

/// Decodes the character at `at` and moves past it; `text` must be UTF-8.
char32_t next_character(std::string_view text, std::size_t& at) noexcept {
    const core::Decoded step = core::decode_at(text, at);
    at += step.length;
    return step.code_point;
}

int combining_class(char32_t c) noexcept {
    return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

/// Canonical order within each run of combining characters.
void sort_combining_runs(std::u32string& text) {
    for (auto run = text.begin(); run != text.end();) {
        if (*run < 0x300 || combining_class(*run) == 0) {
            ++run;
            continue;
        }
        const auto end =
            std::find_if(run, text.end(), [](char32_t c) { return combining_class(c) == 0; });
        std::stable_sort(run, end, [](char32_t a, char32_t b) {
            return combining_class(a) < combining_class(b);
        });
        run = end;
    }
}

/// Canonical decomposition (NFD) without the accents, from `first` on.
void strip_accents_from(std::u32string& text, std::size_t first) {
    std::u32string decomposed;
    decomposed.reserve(text.size() - first);
    for (std::size_t i = first; i < text.size(); ++i) {
        std::array<utf8proc_int32_t, 32> parts{};
        const auto count =
            utf8proc_decompose_char(static_cast<utf8proc_int32_t>(text[i]), parts.data(),
                                    parts.size(), UTF8PROC_DECOMPOSE, nullptr);
        if (count < 1 || static_cast<std::size_t>(count) > parts.size()) {
            decomposed.push_back(text[i]);
            continue;
        }
        for (std::size_t p = 0; p < static_cast<std::size_t>(count); ++p) {
            decomposed.push_back(static_cast<char32_t>(parts[p]));
        }
    }
    sort_combining_runs(decomposed);
    std::erase_if(decomposed, is_accent);
    text.replace(first, std::u32string::npos, decomposed);
}

/// Lower case as of Unicode 17: letters that the system's tables may not know yet come first.
void append_lower(char32_t c, std::u32string& out) {
    if (c < 0x80) {
        out.push_back(c >= U'A' && c <= U'Z' ? c + 32 : c);
    } else if (c == 0x130) {
        out.append({U'i', char32_t{0x307}});
    } else if (c >= 0x10d50 && c <= 0x10d65) {
        out.push_back(c + 0x20);
    } else if (c >= 0x16ea0 && c <= 0x16eb8) {
        out.push_back(c + 0x1b);
    } else if (c == 0xa7cb) {
        out.push_back(0x264);
    } else if (c == 0xa7dc) {
        out.push_back(0x19b);
    } else if (c == 0x1c89 || c == 0xa7cc || c == 0xa7ce || c == 0xa7d2 || c == 0xa7d4 ||
               c == 0xa7da) {
        out.push_back(c + 1);
    } else {
        out.push_back(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
}

}  // namespace

void BertNormalizer::append(std::string_view text, std::u32string& out) const {
    const std::size_t first = out.size();
    bool decomposable = false;
    for (std::size_t at = 0; at < text.size();) {
        const char32_t c = next_character(text, at);
        if (clean_text && is_removed(c)) continue;
        decomposable = decomposable || c >= kFirstWithDecomposition;
        if (clean_text && is_space(c)) {
            out.push_back(U' ');
        } else if (space_chinese && c >= 0x3400 && is_chinese(c)) {
            out.append({U' ', c, U' '});
        } else {
            out.push_back(c);
        }
    }
    if (strip_accents && decomposable) strip_accents_from(out, first);
    if (!lowercase) return;
    const std::u32string cased = out.substr(first);
    out.resize(first);
    for (const char32_t c : cased) append_lower(c, out);
}

}  // namespace braid::embed
