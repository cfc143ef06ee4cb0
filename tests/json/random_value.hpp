#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "braid/value.hpp"

namespace braid::json {

/// A finite double of any bit pattern.
inline double random_double(std::mt19937_64& rng) {
    for (;;) {
        const auto number = std::bit_cast<double>(rng());
        if (std::isfinite(number)) return number;
    }
}

/// Valid UTF-8: plain text, control characters, and code points of every length.
inline std::string random_string(std::mt19937_64& rng) {
    static const std::string kPieces[] = {"a",
                                          "Z",
                                          "0",
                                          " ",
                                          "\"",
                                          "\\",
                                          "/",
                                          "\n",
                                          "\x01",
                                          "\x1f",
                                          "\x7f",
                                          "é",
                                          "ß",
                                          "€",
                                          "\xEF\xBF\xBF",
                                          "日",
                                          "😀",
                                          "\xF4\x8F\xBF\xBF",
                                          std::string(1, '\0')};
    std::string out;
    const std::size_t length = rng() % 4 == 0 ? rng() % 200 : rng() % 12;
    for (std::size_t i = 0; i < length; ++i) out += kPieces[rng() % std::size(kPieces)];
    return out;
}

/// Any value a JSON text can hold, nested at most `depth` deep.
inline Value random_value(std::mt19937_64& rng, int depth) {
    switch (rng() % (depth > 0 ? 9 : 7)) {
        case 0:
            return Value();
        case 1:
            return Value(rng() % 2 == 0);
        case 2:
            return Value(static_cast<std::int64_t>(rng()));
        case 3:
            return Value(static_cast<std::int64_t>(rng() % 20) - 10);
        case 4:
            return Value(random_double(rng));
        case 5:
            return Value(static_cast<double>(static_cast<std::int64_t>(rng() % 2000)) / 8.0);
        case 6:
            return Value(random_string(rng));
        case 7: {
            Array array(rng() % 6);
            for (Value& element : array) element = random_value(rng, depth - 1);
            return array;
        }
        default: {
            Object object;
            const std::size_t size = rng() % 6;
            for (std::size_t i = 0; i < size; ++i) {
                object.set(random_string(rng), random_value(rng, depth - 1));
            }
            return object;
        }
    }
}

/// Equal in every respect that a text can show: type, order of members, sign of zero.
bool identical(const Value& a, const Value& b);

}  // namespace braid::json
