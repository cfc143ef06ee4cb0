#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "braid/value.hpp"

namespace braid::json {

/// The value of a number that follows the JSON grammar: an integer of 64 bits stays one, "-0" and
/// all others become the nearest double. nullopt if it is too large for a double; one too small is
/// 0.
std::optional<Value> number_value(std::string_view token);

/// Appends the number as print() writes it.
void append_number(std::string& out, std::int64_t number);
void append_number(std::string& out, double number);

}  // namespace braid::json
