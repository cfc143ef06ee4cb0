#include "braid/store/section_file_format.hpp"

#include <algorithm>
#include <limits>

#include "braid/store/block_checksums.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/sections.hpp"

namespace braid::store {
namespace {

constexpr std::uint64_t kHeaderMagic = 0x6365736469617262;  // "braidsec"
constexpr std::uint64_t kFooterMagic = 0x646e656469617262;  // "braidend"
constexpr std::size_t kChecksumOffset = 56;                 // in the header and in the footer
constexpr std::uint64_t kHeaderSeed = 0;
constexpr std::uint64_t kFooterSeed = 1;
constexpr std::size_t kMinEntryBytes = 1 + 1 + 8 + 8;
constexpr std::size_t kGenerationDigits = 6;
constexpr std::uint64_t kFirstBlockBytes = 64 * 1024;  // in files of version 1

/// Fills up to the checksum, and adds it.
std::vector<std::byte> closed(ByteWriter writer, std::uint64_t seed) {
    const std::vector<std::byte> zeros(kChecksumOffset - writer.size());
    writer.bytes(zeros);
    writer.u64(checksum(writer.view(), seed));
    return writer.take();
}

Result<> check_closed(std::span<const std::byte> bytes, std::uint64_t magic, std::uint64_t seed,
                      const std::string& path, std::string_view what) {
    ByteReader reader(bytes, path);
    BRAID_TRY(const std::uint64_t found, reader.u64("magic number"));
    ByteReader end(bytes.subspan(std::min(kChecksumOffset, bytes.size())), path);
    BRAID_TRY(const std::uint64_t expected, end.u64("checksum"));
    if (found == magic && checksum(bytes.first(kChecksumOffset), seed) == expected) return {};
    return fail(ErrorCode::Corruption, path + " is damaged: it has no valid " + std::string(what));
}

std::string decode_kind(std::span<const std::byte> bytes) {
    std::string kind(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    kind.resize(std::min(kind.find('\0'), kind.size()));
    return kind;
}

}  // namespace

std::uint64_t SectionFileHeader::block_bytes() const noexcept {
    return version == 1 ? kFirstBlockBytes : kBlockBytes;
}

std::vector<std::byte> encode_section_header(const SectionFileHeader& header) {
    ByteWriter writer;
    writer.u64(kHeaderMagic);
    writer.u32(header.version);
    writer.u32(header.required_features);
    writer.u64(header.generation);
    std::string kind = header.kind;
    kind.resize(kMaxKindBytes);
    writer.bytes(std::as_bytes(std::span(kind)));
    writer.u32(header.optional_features);
    return closed(std::move(writer), kHeaderSeed);
}

Result<SectionFileHeader> decode_section_header(std::span<const std::byte> bytes,
                                                const std::string& path) {
    BRAID_CHECK(check_closed(bytes, kHeaderMagic, kHeaderSeed, path, "header"));
    ByteReader reader(bytes, path);
    BRAID_CHECK(reader.u64("magic number"));
    SectionFileHeader header;
    BRAID_TRY(header.version, reader.u32("version"));
    BRAID_TRY(header.required_features, reader.u32("required features"));
    BRAID_TRY(header.generation, reader.u64("generation"));
    BRAID_TRY(const auto kind, reader.bytes(kMaxKindBytes, "kind"));
    BRAID_TRY(header.optional_features, reader.u32("optional features"));
    if (header.version == 0 || header.version > kSectionFileVersion) {
        return fail(ErrorCode::Unsupported,
                    path + " has format version " + std::to_string(header.version) +
                        ", this braid reads up to " + std::to_string(kSectionFileVersion) +
                        ": it was written by a newer one");
    }
    const std::uint32_t unknown = header.required_features & ~kKnownFeatures;
    if (unknown != 0) {
        return fail(ErrorCode::Unsupported,
                    path + " needs features that this braid does not know (bits " +
                        std::to_string(unknown) + "): it was written by a newer one");
    }
    header.kind = decode_kind(kind);
    return header;
}

std::vector<std::byte> encode_section_directory(const std::vector<SectionEntry>& entries) {
    ByteWriter writer;
    writer.varint(entries.size());
    for (const SectionEntry& entry : entries) {
        writer.string(entry.name);
        writer.u64(entry.offset);
        writer.u64(entry.length);
    }
    return writer.take();
}

Result<std::vector<SectionEntry>> decode_section_directory(std::span<const std::byte> bytes,
                                                           const std::string& path,
                                                           std::uint64_t end) {
    ByteReader reader(bytes, path);
    BRAID_TRY(const std::size_t count, reader.count(kMinEntryBytes, "section directory"));
    std::vector<SectionEntry> entries;
    entries.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        BRAID_TRY(const std::string_view name, reader.string("section name"));
        SectionEntry entry{std::string(name), 0, 0};
        BRAID_TRY(entry.offset, reader.u64("section offset"));
        BRAID_TRY(entry.length, reader.u64("section length"));
        if (name.empty() || name.size() > kMaxSectionNameBytes ||
            (i > 0 && entries.back().name >= name)) {
            return reader.corrupt("the names of sections are not in order");
        }
        if (entry.offset < kSectionFileHeaderBytes || entry.offset % kSectionAlignment != 0 ||
            entry.offset > end || entry.length > end - entry.offset) {
            return reader.corrupt("section \"" + entry.name + "\" lies outside the file");
        }
        entries.push_back(std::move(entry));
    }
    BRAID_CHECK(reader.expect_end("section directory"));
    return entries;
}

std::uint64_t SectionFileFooter::blocks_offset() const noexcept {
    constexpr std::uint64_t kWord = sizeof(std::uint64_t);
    return directory_offset + (directory_length + kWord - 1) / kWord * kWord;
}

std::vector<std::byte> encode_section_footer(const SectionFileFooter& footer) {
    ByteWriter writer;
    writer.u64(kFooterMagic);
    writer.u64(footer.generation);
    writer.u64(footer.directory_offset);
    writer.u64(footer.directory_length);
    writer.u64(footer.directory_checksum);
    writer.u64(footer.blocks_checksum);
    writer.u64(footer.file_size);
    return closed(std::move(writer), kFooterSeed);
}

Result<SectionFileFooter> decode_section_footer(std::span<const std::byte> bytes,
                                                const std::string& path, std::uint64_t file_size,
                                                std::uint64_t block_bytes) {
    BRAID_CHECK(check_closed(bytes, kFooterMagic, kFooterSeed, path,
                             "footer, so it was cut short or never finished"));
    ByteReader reader(bytes, path);
    BRAID_CHECK(reader.u64("magic number"));
    SectionFileFooter footer;
    BRAID_TRY(footer.generation, reader.u64("generation"));
    BRAID_TRY(footer.directory_offset, reader.u64("directory offset"));
    BRAID_TRY(footer.directory_length, reader.u64("directory length"));
    BRAID_TRY(footer.directory_checksum, reader.u64("directory checksum"));
    BRAID_TRY(footer.blocks_checksum, reader.u64("checksum of block checksums"));
    BRAID_TRY(footer.file_size, reader.u64("file size"));
    const bool in_range = footer.directory_offset <= file_size &&
                          footer.directory_length <= file_size - footer.directory_offset;
    const std::uint64_t blocks_bytes =
        in_range ? block_count(footer.directory_offset, block_bytes) * sizeof(std::uint64_t) : 0;
    const bool fits = in_range && footer.file_size == file_size &&
                      footer.directory_offset >= kSectionFileHeaderBytes &&
                      footer.blocks_offset() + blocks_bytes + kSectionFileFooterBytes == file_size;
    if (!fits) {
        return fail(ErrorCode::Corruption, path + " is damaged: it has " +
                                               std::to_string(file_size) +
                                               " bytes, which its footer contradicts");
    }
    return footer;
}

std::string section_file_name(std::string_view kind, std::uint64_t generation) {
    std::string digits = std::to_string(generation);
    if (digits.size() < kGenerationDigits) digits.insert(0, kGenerationDigits - digits.size(), '0');
    return std::string(kind) + "-" + digits;
}

bool is_valid_kind(std::string_view kind) noexcept {
    return !kind.empty() && kind.size() <= kMaxKindBytes && kind.front() != '-' &&
           kind.back() != '-' && std::all_of(kind.begin(), kind.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || c == '-';
           });
}

}  // namespace braid::store
