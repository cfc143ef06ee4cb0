#pragma once

#include <cstdint>
#include <string_view>

namespace braid::docs {

/// The sections of stored documents: docs/formats/documents.md.
inline constexpr std::string_view kBlocksSection = "docs.blocks";
inline constexpr std::string_view kIndexSection = "docs.index";
inline constexpr std::string_view kDictionarySection = "docs.dictionary";
inline constexpr std::string_view kIdsSection = "docs.ids";
inline constexpr std::string_view kDocumentsSection = "docs.documents";
inline constexpr std::string_view kDocumentOfSection = "docs.document_of";
inline constexpr std::string_view kStartsSection = "docs.starts";
inline constexpr std::string_view kOrderSection = "docs.order";
inline constexpr std::string_view kCreatedKnownSection = "docs.created_known";
inline constexpr std::string_view kCreatedSection = "docs.created";
inline constexpr std::string_view kVersionsSection = "docs.versions";
inline constexpr std::string_view kLabelsSection = "docs.labels";
inline constexpr std::string_view kLengthsSection = "docs.lengths";
/// Only if some row expires.
inline constexpr std::string_view kExpiringRowsSection = "docs.expiring_rows";
inline constexpr std::string_view kExpiriesSection = "docs.expiries";

inline constexpr std::uint64_t kIndexHeaderBytes = 16;
inline constexpr std::uint64_t kIndexEntryBytes = 24;
inline constexpr std::uint64_t kMaxRows = 0xFFFF'FFFF;

/// Maps a signed number to an unsigned one that sorts the same way.
constexpr std::uint64_t ordered_bits(std::int64_t value) noexcept {
    return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63);
}
constexpr std::int64_t from_ordered_bits(std::uint64_t bits) noexcept {
    return static_cast<std::int64_t>(bits ^ (std::uint64_t{1} << 63));
}

}  // namespace braid::docs
