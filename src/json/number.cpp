#include "braid/json/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

namespace braid::json {
namespace {

/// Whether a number that does not fit a double is too large rather than too small: whether its
/// first digit other than 0 stands, after the exponent has moved it, before the decimal point.
bool is_large(std::string_view token) noexcept {
    if (token.front() == '-') token.remove_prefix(1);
    const std::size_t e = std::min(token.find_first_of("eE"), token.size());
    const std::string_view digits = token.substr(0, e);
    const std::size_t point = std::min(digits.find('.'), digits.size());
    const std::size_t first = std::min(digits.find_first_of("123456789"), digits.size());
    auto place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
    if (first > point) ++place;  // the point itself takes a place

    std::string_view exponent = token.substr(std::min(e + 1, token.size()));
    const bool negative = exponent.starts_with('-');
    if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
    constexpr std::int64_t beyond_any_text = std::int64_t{1} << 48U;
    std::int64_t shift = 0;
    for (const char c : exponent) shift = std::min(shift * 10 + (c - '0'), beyond_any_text);
    place += negative ? -shift : shift;
    return place > 0;
}

}  // namespace

std::optional<Value> number_value(std::string_view token) {
    const char* const begin = token.data();
    const char* const end = begin + token.size();
    if (token.find_first_of(".eE") == std::string_view::npos && token != "-0") {
        std::int64_t integer = 0;
        if (std::from_chars(begin, end, integer).ec == std::errc()) return Value(integer);
    }
    double number = 0;
    if (std::from_chars(begin, end, number).ec == std::errc()) return Value(number);
    if (is_large(token)) return std::nullopt;
    return Value(token.front() == '-' ? -0.0 : 0.0);
}

void append_number(std::string& out, std::int64_t number) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

void append_number(std::string& out, double number) {
    if (!std::isfinite(number)) {
        out += "null";
        return;
    }
    // Left to itself, to_chars prints 100000 as 1e+05.
    const double size = std::fabs(number);
    const bool fixed = size == 0 || (size >= 1e-5 && size < 1e16);
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                   fixed ? std::chars_format::fixed : std::chars_format::scientific)
                         .ptr;
    const std::string_view written(digits.data(), static_cast<std::size_t>(end - digits.data()));
    out += written;
    if (fixed && written.find('.') == std::string_view::npos) out += ".0";
}

}  // namespace braid::json
