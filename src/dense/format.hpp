#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "braid/dense/precision.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"
#include "braid/types.hpp"

/// The sections of an index of vectors; docs/formats/dense.md describes every byte.
namespace braid::dense {

inline constexpr std::size_t kMaxDimension = 65'536;
inline constexpr std::uint64_t kMaxVectors = 0xffff'ffffU;  // row numbers have 32 bits

inline constexpr std::string_view kMetaSection = "vectors.meta";
inline constexpr std::string_view kRowsSection = "vectors.rows";
inline constexpr std::string_view kNormsSection = "vectors.norms";
inline constexpr std::string_view kTransformSection = "vectors.transform";
inline constexpr std::string_view kLinesSection = "vectors.lines";
inline constexpr std::string_view kBlocksSection = "vectors.blocks";

/// What the first section says about the others.
struct VectorsMeta {
    std::uint64_t count = 0;
    std::uint32_t dimension = 0;
    Metric metric = Metric::Cosine;
    Precision precision = Precision::F32;
    std::uint32_t code_dimensions = 0;  // 0: there are no codes
    std::uint64_t transform_id = 0;

    std::uint64_t row_bytes() const noexcept { return dense::row_bytes(precision, dimension); }
    bool offsets() const noexcept { return metric == Metric::Euclidean; }
};

Result<> write_meta(const VectorsMeta& meta, store::SectionSink& sink);
/// Corruption unless write_meta can have written every field.
Result<VectorsMeta> read_meta(const store::SectionSource& source);

/// A section that must have exactly this many bytes; Corruption otherwise, or if it is missing.
Result<store::Section> section_of_size(const store::SectionSource& source, std::string_view name,
                                       std::uint64_t bytes);

}  // namespace braid::dense
