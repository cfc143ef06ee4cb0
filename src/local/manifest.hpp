#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/result.hpp"

namespace braid::local {

/// What a collection's directory holds (docs/formats/manifest.md). Replaced whole when it changes.
struct Manifest {
    Schema schema;
    std::string log;           // file name of the log
    Version version_base = 0;  // a write's version is its sequence number plus this

    friend bool operator==(const Manifest&, const Manifest&) = default;
};

inline constexpr std::string_view kManifestName = "manifest";
/// Of a rewrite that has not taken the collection's place yet.
inline constexpr std::string_view kNextManifestName = "manifest-next";
/// Of a compaction that has not taken the collection's place yet.
inline constexpr std::string_view kCompactManifestName = "manifest-compact";

/// "log-000001"
std::string log_name(std::uint64_t number);
/// The number in a log's name; none if it is not one.
std::optional<std::uint64_t> log_number(std::string_view name);

std::vector<std::byte> write_manifest(const Manifest& manifest);
/// Corruption for damaged bytes, Unsupported for a newer format. `source` names them in messages.
Result<Manifest> read_manifest(std::span<const std::byte> bytes, std::string_view source);

}  // namespace braid::local
