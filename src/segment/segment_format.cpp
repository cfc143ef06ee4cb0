#include "braid/segment/segment_format.hpp"

#include <algorithm>

#include "braid/store/bytes.hpp"

namespace braid::segment {
namespace {

constexpr std::uint32_t kMetaVersion = 1;

}  // namespace

std::string part_section(std::size_t i) {
    std::string digits = std::to_string(i);
    if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
    return "part." + digits;
}

Result<> write_meta(const SegmentMeta& meta, store::SectionSink& sink) {
    store::ByteWriter out;
    out.u32(kMetaVersion);
    out.varint(meta.dimension);
    out.varint(meta.labels.size());
    for (const auto& [number, label] : meta.labels) {
        out.varint(number);
        out.varint(label.level);
        out.varint(label.scopes.size());
        for (const std::string& scope : label.scopes) out.string(scope);
    }
    out.varint(meta.parts.size());
    for (const PartMeta& part : meta.parts) {
        out.string(part.namespace_);
        out.varint(part.rows);
        out.varint(part.vectors);
    }
    BRAID_CHECK(sink.begin(kMetaSection));
    BRAID_CHECK(sink.write(out.view()));
    store::ByteWriter expiring;
    for (std::size_t i = 0; i < meta.parts.size(); ++i) {
        if (meta.parts[i].expires) expiring.varint(i);
    }
    if (expiring.size() == 0) return {};
    BRAID_CHECK(sink.begin(kExpiringPartsSection));
    return sink.write(expiring.view());
}

namespace {

Result<> read_expiring_parts(const store::SectionSource& source, SegmentMeta& meta) {
    const auto section = source.section(kExpiringPartsSection);
    if (!section && section.error().code == ErrorCode::NotFound) return {};
    if (!section) return tl::unexpected(section.error());
    BRAID_TRY(const auto bytes, section->bytes());
    store::ByteReader in(bytes, kExpiringPartsSection);
    while (!in.at_end()) {
        BRAID_TRY(const std::uint64_t part, in.varint("number of a namespace"));
        if (part >= meta.parts.size()) return in.corrupt("a namespace does not exist");
        meta.parts[part].expires = true;
    }
    return {};
}

}  // namespace

Result<SegmentMeta> read_meta(const store::SectionSource& source) {
    BRAID_TRY(const store::Section section, source.section(kMetaSection));
    BRAID_TRY(const auto bytes, section.bytes());
    store::ByteReader in(bytes, kMetaSection);
    BRAID_TRY(const std::uint32_t version, in.u32("version"));
    if (version > kMetaVersion) {
        return fail(ErrorCode::Unsupported,
                    "a segment of version " + std::to_string(version) + ": a newer braid wrote it");
    }
    if (version == 0) return in.corrupt("bad version");
    SegmentMeta meta;
    BRAID_TRY(meta.dimension, in.varint("dimension"));
    BRAID_TRY(const std::size_t labels, in.count(3, "labels"));
    for (std::size_t i = 0; i < labels; ++i) {
        auto& [number, label] = meta.labels.emplace_back();
        BRAID_TRY(const std::uint64_t stored, in.varint("number of a label"));
        number = static_cast<std::uint32_t>(stored);
        if (number != stored || (i > 0 && meta.labels[i - 1].first >= number)) {
            return in.corrupt("bad number of a label");
        }
        BRAID_TRY(label.level, in.varint("level of a label"));
        BRAID_TRY(const std::size_t scopes, in.count(1, "scopes"));
        for (std::size_t j = 0; j < scopes; ++j) {
            BRAID_TRY(const std::string_view scope, in.string("scope"));
            label.scopes.emplace_back(scope);
        }
    }
    BRAID_TRY(const std::size_t parts, in.count(3, "namespaces"));
    for (std::size_t i = 0; i < parts; ++i) {
        PartMeta& part = meta.parts.emplace_back();
        BRAID_TRY(part.namespace_, in.string("namespace"));
        BRAID_TRY(part.rows, in.varint("rows"));
        BRAID_TRY(part.vectors, in.varint("vectors"));
        if (part.vectors > part.rows ||
            (i > 0 && meta.parts[i - 1].namespace_ >= part.namespace_)) {
            return in.corrupt("bad namespace \"" + part.namespace_ + "\"");
        }
    }
    BRAID_CHECK(in.expect_end(kMetaSection));
    BRAID_CHECK(read_expiring_parts(source, meta));
    return meta;
}

}  // namespace braid::segment
