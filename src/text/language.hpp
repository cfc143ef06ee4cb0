#pragma once

#include <optional>
#include <string_view>

namespace braid::text {

/// The language of a question, if it is plainly not English: "German", "a script other than Latin".
/// Nothing where it is English, cannot be told, or is no prose: names, codes, single words.
/// Known by their small words are German, French, Spanish, Italian, Dutch and Portuguese.
std::optional<std::string_view> foreign_language(std::string_view question);

}  // namespace braid::text
