#include "braid/text/graphemes.hpp"

#include <cstdint>

#include <utf8proc.h>

#include "braid/core/utf8.hpp"

namespace braid::text {

std::string_view cut_at_grapheme(std::string_view text, std::size_t bytes) noexcept {
    if (text.size() <= bytes) return text;
    const std::string_view most = core::cut_at_most(text, bytes);
    std::int32_t state = 0;
    char32_t before = 0;
    std::size_t last = 0;
    for (std::size_t at = 0; at <= most.size() && at < text.size();) {
        const core::Decoded next = core::decode_at(text, at);
        const bool valid = next.code_point != core::kInvalidBytes && before != core::kInvalidBytes;
        if (at > 0 && (!valid || utf8proc_grapheme_break_stateful(
                                     static_cast<std::int32_t>(before),
                                     static_cast<std::int32_t>(next.code_point), &state))) {
            last = at;
        }
        before = next.code_point;
        at += next.length;
    }
    return last > 0 ? text.substr(0, last) : most;
}

}  // namespace braid::text
