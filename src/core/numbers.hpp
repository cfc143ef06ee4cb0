#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace braid::core {

// Numbers as people read them; JSON has its own form (braid/json/number.hpp).

/// "0.6790": with that many decimals; never "-0.0000".
std::string fixed(double value, int decimals);
/// The same, but "1e+07" for numbers that would be long, or all zeros.
std::string brief(double value, int decimals);
/// "+0.0300" or "−0.0300": the same with its sign (a true minus), "0.0000" without one.
std::string signed_fixed(double value, int decimals);
/// "12,345".
std::string grouped(std::size_t value);
/// "1 query", "300 queries".
std::string count_of(std::size_t count, const char* one, const char* many);
/// "3.2 MB".
std::string byte_size(std::uint64_t bytes);

}  // namespace braid::core
