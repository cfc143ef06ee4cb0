#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "braid/result.hpp"
#include "braid/sparse/index_format.hpp"

namespace braid::sparse {

/// A version 2 list in the form of version 3: decoded whole each time it is asked for, until a
/// merge rewrites it.
struct DecodedList {
    std::vector<std::uint32_t> directory;  // first entry of each window, and the end
    std::vector<std::uint16_t> rows;       // in the window
    std::vector<std::uint8_t> codes;       // a RowCode each
};

/// `bytes` begins with the directory; `length_classes` covers all rows of the index.
Result<std::shared_ptr<const DecodedList>> decode_list(
    ListForm form, std::span<const std::uint8_t> bytes,
    std::span<const std::uint8_t> length_classes);

/// Corruption if a directory of this many windows, with numbers this wide, is not ascending.
Result<> check_directory(const std::uint8_t* directory, std::uint32_t width, std::uint64_t windows);

}  // namespace braid::sparse
