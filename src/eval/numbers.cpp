#include "braid/eval/numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace braid::eval {

std::string fixed(double value, int decimals) {
    std::array<char, 512> digits{};  // the largest double has 309 digits before the point
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                   std::chars_format::fixed, decimals)
                         .ptr;
    std::string text(digits.data(), end);
    if (text.find_first_not_of("-0.") == std::string::npos && text.starts_with('-'))
        text.erase(0, 1);
    return text;
}

std::string brief(double value, int decimals) {
    const double size = std::abs(value);
    if (value == 0.0 || (size < 1e6 && size >= std::pow(10.0, -decimals) / 2)) {
        return fixed(value, decimals);
    }
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                   std::chars_format::general, 3)
                         .ptr;
    return {digits.data(), end};
}

std::string signed_fixed(double value, int decimals) {
    std::string size = fixed(std::abs(value), decimals);
    if (size.find_first_not_of("0.") == std::string::npos) return size;
    return (value < 0.0 ? "−" : "+") + size;
}

std::string grouped(std::size_t value) {
    std::string digits = std::to_string(value);
    for (std::size_t place = digits.size(); place > 3;) {
        place -= 3;
        digits.insert(place, ",");
    }
    return digits;
}

std::string p_text(double p_value) {
    if (p_value < 0.001) return "p < 0.001";
    return "p = " + fixed(p_value, p_value < 0.1 ? 3 : 2);
}

std::string count_of(std::size_t count, const char* one, const char* many) {
    return grouped(count) + " " + (count == 1 ? one : many);
}

std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
    }));
}

}  // namespace braid::eval
