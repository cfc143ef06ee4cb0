#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"

namespace braid::store {

/// Section files byte by byte: docs/formats/segment.md. Decoders trust nothing; a failure is
/// Corruption that names `path`, or Unsupported for what a newer braid wrote.

inline constexpr std::size_t kSectionFileHeaderBytes = 64;
inline constexpr std::size_t kSectionFileFooterBytes = 64;
/// Version 1 had larger blocks.
inline constexpr std::uint32_t kSectionFileVersion = 2;
/// Bits of features that a reader must know to read the file. None so far.
inline constexpr std::uint32_t kKnownFeatures = 0;
inline constexpr std::size_t kMaxKindBytes = 16;
inline constexpr std::size_t kMaxSectionNameBytes = 1024;

struct SectionFileHeader {
    std::string kind;  // what the file is for: "segment"
    std::uint64_t generation = 0;
    std::uint32_t required_features = 0;
    std::uint32_t optional_features = 0;
    std::uint32_t version = kSectionFileVersion;

    /// How much one checksum covers.
    std::uint64_t block_bytes() const noexcept;
};
std::vector<std::byte> encode_section_header(const SectionFileHeader& header);
Result<SectionFileHeader> decode_section_header(std::span<const std::byte> bytes,
                                                const std::string& path);

struct SectionEntry {
    std::string name;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};
/// Requires entries in ascending order of names, each once.
std::vector<std::byte> encode_section_directory(const std::vector<SectionEntry>& entries);
/// Every entry lies between the header and `end`.
Result<std::vector<SectionEntry>> decode_section_directory(std::span<const std::byte> bytes,
                                                           const std::string& path,
                                                           std::uint64_t end);

struct SectionFileFooter {
    std::uint64_t generation = 0;
    std::uint64_t directory_offset = 0;  // = bytes that block checksums cover
    std::uint64_t directory_length = 0;
    std::uint64_t directory_checksum = 0;
    std::uint64_t blocks_checksum = 0;
    std::uint64_t file_size = 0;

    /// Where the checksums of blocks begin.
    std::uint64_t blocks_offset() const noexcept;
};
std::vector<std::byte> encode_section_footer(const SectionFileFooter& footer);
/// Also checks that the parts it names fill a file of `file_size` bytes exactly, with checksums of
/// blocks of `block_bytes`.
Result<SectionFileFooter> decode_section_footer(std::span<const std::byte> bytes,
                                                const std::string& path, std::uint64_t file_size,
                                                std::uint64_t block_bytes);

/// "segment-000042". A generation is used for one file only, ever.
std::string section_file_name(std::string_view kind, std::uint64_t generation);
/// Whether it is 1 to 16 lower-case letters and dashes, beginning and ending with a letter.
bool is_valid_kind(std::string_view kind) noexcept;

}  // namespace braid::store
