#pragma once

#include "braid/filter.hpp"

namespace braid::core {

/// Whether an operator joins filters rather than compares a field.
constexpr bool is_logical(Filter::Op op) noexcept {
    return op == Filter::Op::And || op == Filter::Op::Or || op == Filter::Op::Not;
}

}  // namespace braid::core
