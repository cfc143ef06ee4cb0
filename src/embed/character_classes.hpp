#pragma once

namespace braid::embed {

// The character classes of Hugging Face `tokenizers` 0.23, whose tables for marks, punctuation and
// controls stopped at Unicode 8: a character assigned later is in none of them. Fixed here, because
// a system library's tables move with its version and the vectors must not.

/// Dropped by text cleaning: controls, format characters, private use, U+FFFD.
bool is_removed(char32_t c) noexcept;
/// Ends a word and is dropped.
bool is_space(char32_t c) noexcept;
/// A word of its own.
bool is_punctuation(char32_t c) noexcept;
/// Written without spaces: separated on both sides.
bool is_chinese(char32_t c) noexcept;
/// A non-spacing mark, dropped as an accent after canonical decomposition.
bool is_accent(char32_t c) noexcept;

}  // namespace braid::embed
