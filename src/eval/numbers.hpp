#pragma once

#include <cstddef>
#include <string>

namespace braid::eval {

/// "0.6790": with so many decimals; never "-0.0000".
std::string fixed(double value, int decimals);
/// The same, but "1e+07" for numbers that would be long, or nothing but zeros.
std::string brief(double value, int decimals);
/// "+0.0300" or "−0.0300": the same with its sign (a true minus), "0.0000" without one.
std::string signed_fixed(double value, int decimals);
/// "12,345".
std::string grouped(std::size_t value);
/// A p-value as prose has it: "p = 0.013", "p < 0.001".
std::string p_text(double p_value);
/// "1 query", "300 queries".
std::string count_of(std::size_t count, const char* one, const char* many);
/// Code points of a UTF-8 text: the columns it takes on a terminal, wide characters aside.
std::size_t width_of(const std::string& text);

}  // namespace braid::eval
