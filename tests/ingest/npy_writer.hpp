#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace braid::testing {

/// The bytes of a NumPy file with the given header and data, as numpy.save lays them out.
inline std::string npy_bytes(std::string_view header, std::string_view data, int version = 1) {
    std::string text(header);
    const std::size_t prefix = version == 1 ? 10 : 12;
    while ((prefix + text.size() + 1) % 64 != 0) text += ' ';
    text += '\n';
    std::string out = "\x93NUMPY";
    out += static_cast<char>(version);
    out += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
        out += static_cast<char>((text.size() >> (8 * i)) & 0xFF);
    }
    return out + text + std::string(data);
}

template <class T>
std::string npy_of(std::string_view descr, std::uint64_t rows, std::uint64_t columns,
                   const std::vector<T>& numbers, int version = 1) {
    std::string data(numbers.size() * sizeof(T), '\0');
    std::memcpy(data.data(), numbers.data(), data.size());
    return npy_bytes("{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" +
                         std::to_string(rows) + ", " + std::to_string(columns) + "), }",
                     data, version);
}

}  // namespace braid::testing
