#include "braid/text/display_width.hpp"

#include <algorithm>

#include <utf8proc.h>

#include "braid/core/utf8.hpp"

namespace braid::text {

std::size_t display_width(char32_t code_point) noexcept {
    const int columns = utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point));
    return static_cast<std::size_t>(std::max(columns, 0));
}

std::size_t display_width(std::string_view text) noexcept {
    std::size_t width = 0;
    for (std::size_t at = 0; at < text.size();) {
        const core::Decoded step = core::decode_at(text, at);
        at += step.length;
        width += step.valid() ? display_width(step.code_point) : 1;
    }
    return width;
}

}  // namespace braid::text
