#pragma once

#include <span>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/result.hpp"

namespace braid::local {

/// What a collection's directory holds (docs/formats/manifest.md). Replaced whole when it changes.
struct Manifest {
    Schema schema;
    std::string log;  // file name of the log

    friend bool operator==(const Manifest&, const Manifest&) = default;
};

inline constexpr std::string_view kManifestName = "manifest";

std::vector<std::byte> write_manifest(const Manifest& manifest);
/// Corruption for damaged bytes, Unsupported for a newer format. `source` names them in messages.
Result<Manifest> read_manifest(std::span<const std::byte> bytes, std::string_view source);

}  // namespace braid::local
