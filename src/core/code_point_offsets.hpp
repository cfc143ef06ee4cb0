#pragma once

#include <cstddef>
#include <string_view>

#include "braid/core/utf8.hpp"

namespace braid::core {

/// Turns offsets of bytes that only grow into offsets of code points.
class CodePointOffsets {
public:
    explicit CodePointOffsets(std::string_view text) noexcept : text_(text) {}

    std::size_t of(std::size_t byte) noexcept {
        points_ += count_code_points(text_.substr(at_, byte - at_));
        at_ = byte;
        return points_;
    }

private:
    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t points_ = 0;
};

}  // namespace braid::core
