#pragma once

#include <string_view>

namespace braid::text {

/// Whether `word`, case folded, is an English function word that hardly ever decides a search.
bool is_english_stop_word(std::string_view word) noexcept;

}  // namespace braid::text
