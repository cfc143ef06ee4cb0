#pragma once

#include <string_view>

namespace braid::core {

/// ASCII's spaces, tabs and ends of lines and pages.
inline constexpr std::string_view kBlank = " \t\r\n\f\v";

constexpr bool is_blank(std::string_view text) noexcept {
    return text.find_first_not_of(kBlank) == std::string_view::npos;
}

}  // namespace braid::core
