#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/value.hpp"

namespace braid::wire {

/// Sets the member if there is a value.
template <class T>
void put(Object& out, std::string_view key, const std::optional<T>& value) {
    if (value) out.set(key, Value(*value));
}

/// The same, if it is true.
inline void put(Object& out, std::string_view key, bool on) {
    if (on) out.set(key, true);
}

/// The same, if there is a text.
inline void put(Object& out, std::string_view key, const std::string& text) {
    if (!text.empty()) out.set(key, text);
}

inline Array list_of(const std::vector<std::string>& strings) {
    return {strings.begin(), strings.end()};
}

}  // namespace braid::wire
