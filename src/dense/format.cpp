#include "braid/dense/format.hpp"

#include <string>

#include "braid/kernels/dense.hpp"
#include "braid/store/bytes.hpp"

namespace braid::dense {
namespace {

constexpr std::uint32_t kMagic = 0x43455642;  // "BVEC"
constexpr std::uint32_t kVersion = 1;

Result<> check_code_dimensions(std::uint32_t value, const store::ByteReader& reader) {
    if (value > kernels::kCodeDimensions || value % kernels::kCodeChunk != 0) {
        return reader.corrupt(std::to_string(value) + " dimensions of codes");
    }
    return {};
}

}  // namespace

Result<> write_meta(const VectorsMeta& meta, store::SectionSink& sink) {
    store::ByteWriter writer;
    writer.u32(kMagic);
    writer.u32(kVersion);
    writer.u64(meta.count);
    writer.u32(meta.dimension);
    writer.u8(static_cast<std::uint8_t>(meta.metric));
    writer.u8(static_cast<std::uint8_t>(meta.precision));
    writer.u8(0);
    writer.u8(0);
    writer.u32(meta.code_dimensions);
    writer.u32(0);
    writer.u64(meta.transform_id);
    BRAID_CHECK(sink.begin(kMetaSection));
    return sink.write(writer.view());
}

Result<VectorsMeta> read_meta(const store::SectionSource& source) {
    BRAID_TRY(const store::Section section, source.section(kMetaSection));
    BRAID_TRY(const auto bytes, section.bytes());
    store::ByteReader reader(bytes, kMetaSection);
    BRAID_TRY(const auto magic, reader.u32("the magic number"));
    if (magic != kMagic) return reader.corrupt("this is not a vector index");
    BRAID_TRY(const auto version, reader.u32("the version"));
    if (version != kVersion) {
        return fail(ErrorCode::Unsupported, "vectors of format version " + std::to_string(version) +
                                                "; this program knows " + std::to_string(kVersion));
    }
    VectorsMeta meta;
    BRAID_TRY(meta.count, reader.u64("the number of vectors"));
    if (meta.count > kMaxVectors) return reader.corrupt("an impossible number of vectors");
    BRAID_TRY(meta.dimension, reader.u32("the dimension"));
    if (meta.dimension == 0 || meta.dimension > kMaxDimension) {
        return reader.corrupt("vectors of dimension " + std::to_string(meta.dimension));
    }
    BRAID_TRY(const auto metric, reader.u8("the metric"));
    if (metric > 2) return reader.corrupt("unknown metric " + std::to_string(metric));
    meta.metric = static_cast<Metric>(metric);
    BRAID_TRY(const auto precision, reader.u8("the precision"));
    if (precision > 2) return reader.corrupt("unknown precision " + std::to_string(precision));
    meta.precision = static_cast<Precision>(precision);
    BRAID_TRY(const auto reserved, reader.bytes(2, "two bytes of zero"));
    if (reserved[0] != std::byte{0} || reserved[1] != std::byte{0}) {
        return reader.corrupt("bytes that should be zero");
    }
    BRAID_TRY(meta.code_dimensions, reader.u32("the dimension of codes"));
    BRAID_CHECK(check_code_dimensions(meta.code_dimensions, reader));
    BRAID_TRY(const auto zero, reader.u32("four bytes of zero"));
    if (zero != 0) return reader.corrupt("bytes that should be zero");
    BRAID_TRY(meta.transform_id, reader.u64("the id of the transform"));
    BRAID_CHECK(reader.expect_end("the meta section"));
    return meta;
}

Result<store::Section> section_of_size(const store::SectionSource& source, std::string_view name,
                                       std::uint64_t bytes) {
    auto section = source.section(name);
    if (!section && section.error().code == ErrorCode::NotFound) {
        return fail(ErrorCode::Corruption, "there is no section \"" + std::string(name) + "\"");
    }
    if (!section) return tl::unexpected<Error>(std::move(section).error());
    if (section->size() != bytes) {
        return fail(ErrorCode::Corruption, "section \"" + std::string(name) + "\" has " +
                                               std::to_string(section->size()) +
                                               " bytes, expected " + std::to_string(bytes));
    }
    return *section;
}

}  // namespace braid::dense
