#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/exact/labels.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

/// The bytes of a segment besides those of its indexes: docs/formats/segment.md.
namespace braid::segment {

/// Kinds of section files.
inline constexpr std::string_view kSegmentKind = "segment";
inline constexpr std::string_view kDeletesKind = "deletes";
inline constexpr std::string_view kGraphKind = "graph";  // of the segment of that generation

inline constexpr std::string_view kMetaSection = "segment.meta";
/// Which parts have rows that expire; written only if some do.
inline constexpr std::string_view kExpiringPartsSection = "segment.expiring";
/// In a part: which of its rows have a vector, written if not all do.
inline constexpr std::string_view kVectorRowsSection = "vectors.of_rows";

/// One namespace of a segment.
struct PartMeta {
    std::string namespace_;
    std::uint64_t rows = 0;
    std::uint64_t vectors = 0;  // rows that have one
    bool expires = false;       // some row expires

    friend bool operator==(const PartMeta&, const PartMeta&) = default;
};

/// What a segment holds.
struct SegmentMeta {
    std::uint64_t dimension = 0;  // of its vectors; 0: it has none
    /// Access labels, by the number that stands for each in the rows.
    std::vector<std::pair<std::uint32_t, exact::Label>> labels;
    std::vector<PartMeta> parts;  // in byte order of namespace

    std::uint64_t rows() const noexcept {
        std::uint64_t sum = 0;
        for (const PartMeta& part : parts) sum += part.rows;
        return sum;
    }
    friend bool operator==(const SegmentMeta&, const SegmentMeta&) = default;
};

/// The section of part `i`.
std::string part_section(std::size_t i);

Result<> write_meta(const SegmentMeta& meta, store::SectionSink& sink);
/// Corruption unless it could have been written by write_meta.
Result<SegmentMeta> read_meta(const store::SectionSource& source);

}  // namespace braid::segment
