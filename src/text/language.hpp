#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace braid::text {

/// What a text tells of its language, by its first few thousand bytes; as analyzer_languages()
/// names them.
struct LanguageClues {
    /// By its small words; "" where they do not tell: too few, or as many of two languages.
    std::string_view told;
    /// Those with a stemmer that are written in the script of most of its letters; "english" first
    /// if that is Latin, and "none" alone where there is no such language.
    std::span<const std::string_view> of_script;
};
LanguageClues language_clues(std::string_view text);

/// The language of a question, if it is plainly not English: "German", "a script other than Latin".
/// Nothing where it is English, cannot be told, or is no prose: names, codes, single words.
std::optional<std::string_view> foreign_language(std::string_view question);

}  // namespace braid::text
