#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace braid::text {

/// The language of a text by its small words, as analyzer_languages() names it; "" where they do
/// not tell: too few, or as many of two languages. Looks at the first few thousand bytes.
std::string_view language_of(std::string_view text);

/// The languages with a stemmer that are written in the script of most letters of the text;
/// "english" first if it is Latin, and "none" alone where there is no such language.
std::span<const std::string_view> languages_of_script(std::string_view text);

/// The language of a question, if it is plainly not English: "German", "a script other than Latin".
/// Nothing where it is English, cannot be told, or is no prose: names, codes, single words.
std::optional<std::string_view> foreign_language(std::string_view question);

}  // namespace braid::text
