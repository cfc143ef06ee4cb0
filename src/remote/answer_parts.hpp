#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "braid/json/find_in.hpp"
#include "braid/value.hpp"

/// What stands in an answer of the cluster, which may be anything.
namespace braid::remote {

using Path = std::initializer_list<std::string_view>;

using json::find_in;

/// 0 if it is no positive number.
inline std::uint64_t count_in(const Value& value, Path names) {
    const Value* const found = find_in(value, names);
    return found != nullptr && found->is_int() && found->as_int() > 0
               ? static_cast<std::uint64_t>(found->as_int())
               : 0;
}

/// Null if it is no text.
inline const std::string* text_in(const Value& value, Path names) {
    const Value* const found = find_in(value, names);
    return found != nullptr && found->is_string() ? &found->as_string() : nullptr;
}

/// Empty if it is no list.
inline const Array& list_in(const Value& value, Path names) {
    static const Array none;
    const Value* const found = find_in(value, names);
    return found != nullptr && found->is_array() ? found->as_array() : none;
}

}  // namespace braid::remote
