#pragma once

#include <initializer_list>
#include <string_view>

#include "braid/value.hpp"

namespace braid::json {

/// The member that a chain of names leads to, object by object; null if one is missing.
inline const Value* find_in(const Value& value, std::initializer_list<std::string_view> names) {
    const Value* at = &value;
    for (const std::string_view name : names) {
        at = at->find(name);
        if (at == nullptr) return nullptr;
    }
    return at;
}

}  // namespace braid::json
