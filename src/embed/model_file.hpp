#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"

namespace braid::embed {

struct ModelFile {
    std::vector<std::byte> bytes;
    std::string sha256;

    std::string_view text() const noexcept {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
};

/// Reads a whole file. NotFound, IoError, or Corruption if `expected_sha256` is given and differs:
/// the bytes returned are the bytes that were verified.
Result<ModelFile> read_model_file(const std::filesystem::path& path,
                                  std::string_view expected_sha256);

}  // namespace braid::embed
