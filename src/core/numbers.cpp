#include "braid/core/numbers.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace braid::core {

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

std::string count_of(std::size_t count, const char* one, const char* many) {
    return grouped(count) + " " + (count == 1 ? one : many);
}

std::string byte_size(std::uint64_t bytes) {
    constexpr std::array<const char*, 5> units{"bytes", "kB", "MB", "GB", "TB"};
    if (bytes < 1000) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
    double size = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (size >= 999.5 && unit + 1 < units.size()) {
        size /= 1000;
        ++unit;
    }
    return fixed(size, size < 10 ? 1 : 0) + " " + units[unit];
}

}  // namespace braid::core
