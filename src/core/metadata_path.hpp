#pragma once

#include <string_view>

namespace braid::core {

/// The path of a field in the metadata, which may be written with or without "metadata.".
constexpr std::string_view metadata_path(std::string_view field) noexcept {
    constexpr std::string_view prefix = "metadata.";
    return field.starts_with(prefix) ? field.substr(prefix.size()) : field;
}

}  // namespace braid::core
