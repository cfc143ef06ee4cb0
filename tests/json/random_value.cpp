#include "json/random_value.hpp"

#include <algorithm>

namespace braid::json {

bool identical(const Value& a, const Value& b) {
    if (a.is_double() && b.is_double()) {
        return std::bit_cast<std::uint64_t>(a.as_double()) ==
               std::bit_cast<std::uint64_t>(b.as_double());
    }
    if (a.is_array() && b.is_array()) {
        return std::equal(a.as_array().begin(), a.as_array().end(), b.as_array().begin(),
                          b.as_array().end(), identical);
    }
    if (a.is_object() && b.is_object()) {
        return std::equal(a.as_object().begin(), a.as_object().end(), b.as_object().begin(),
                          b.as_object().end(), [](const auto& one, const auto& other) {
                              return one.first == other.first &&
                                     identical(one.second, other.second);
                          });
    }
    return a.is_int() == b.is_int() && a.is_double() == b.is_double() && a == b;
}

}  // namespace braid::json
