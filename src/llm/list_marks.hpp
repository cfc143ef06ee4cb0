#pragma once

#include <string_view>

namespace braid::llm {

/// Whether there is a letter, digit or pictograph in it, of any script.
bool has_word(std::string_view line) noexcept;

/// "Here are three alternatives:"
bool is_announcement(std::string_view line) noexcept;

/// A line of a list without what makes it one, as far as that is certain: bullets, one number
/// ("1.", "2)", "(c)"), headings, emphasis, quotes around the whole, one label ("Alternative 2:").
/// Texts that merely begin like that stay whole: "1.5 litres", "E. coli", "10:30 train", "-40
/// degrees". Requires a harmless line (plain_text.hpp), and returns a part of it, trimmed.
std::string_view without_marks(std::string_view line) noexcept;

}  // namespace braid::llm
