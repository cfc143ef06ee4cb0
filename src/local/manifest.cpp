#include "braid/local/manifest.hpp"

#include <charconv>
#include <set>

#include "braid/docs/schema_codec.hpp"
#include "braid/segment/segment_format.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/durable_mark.hpp"
#include "braid/store/sealed.hpp"
#include "braid/store/section_file_format.hpp"

namespace braid::local {
namespace {

using store::ByteReader;
using store::ByteWriter;

constexpr std::uint32_t kMagic = 0x4d445242;  // "BRDM"

bool needs_segments_format(const Manifest& manifest) {
    return !manifest.segments.empty() || !manifest.older_logs.empty() || manifest.flushed != 0 ||
           manifest.next_generation != 1;
}

void write_segments(ByteWriter& out, const Manifest& manifest) {
    out.varint(manifest.older_logs.size());
    for (const std::string& log : manifest.older_logs) out.string(log);
    out.varint(manifest.flushed);
    out.varint(manifest.next_generation);
    out.varint(manifest.deletes);
    out.varint(manifest.segments.size());
    for (const SegmentEntry& segment : manifest.segments) {
        out.varint(segment.generation);
        out.varint(segment.rows);
        out.varint(segment.bytes);
    }
}

Result<> read_segments(ByteReader& in, Manifest& manifest) {
    BRAID_TRY(const std::size_t logs, in.count(1, "older logs"));
    for (std::size_t i = 0; i < logs; ++i) {
        BRAID_TRY(manifest.older_logs.emplace_back(), in.string("older log"));
    }
    BRAID_TRY(manifest.flushed, in.varint("last flushed record"));
    BRAID_TRY(manifest.next_generation, in.varint("next generation"));
    BRAID_TRY(manifest.deletes, in.varint("generation of the deletes"));
    std::set<std::uint64_t> generations;
    const auto check = [&](std::uint64_t generation) -> Result<> {
        if (generation != 0 && generation < manifest.next_generation &&
            generations.insert(generation).second) {
            return {};
        }
        return in.corrupt("bad generation " + std::to_string(generation));
    };
    if (manifest.deletes != 0) BRAID_CHECK(check(manifest.deletes));
    BRAID_TRY(const std::size_t count, in.count(3, "segments"));
    for (std::size_t i = 0; i < count; ++i) {
        SegmentEntry& segment = manifest.segments.emplace_back();
        BRAID_TRY(segment.generation, in.varint("generation of a segment"));
        BRAID_TRY(segment.rows, in.varint("rows of a segment"));
        BRAID_TRY(segment.bytes, in.varint("bytes of a segment"));
        BRAID_CHECK(check(segment.generation));
    }
    return {};
}

}  // namespace

std::string log_name(std::uint64_t number) {
    std::string digits = std::to_string(number);
    if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
    return "log-" + digits;
}

std::optional<std::uint64_t> log_number(std::string_view name) {
    if (!name.starts_with("log-")) return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data() + 4, name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
    return number;
}

std::optional<std::string> log_of_file(std::string_view name) {
    const std::string mark = store::durable_mark_name("");
    if (name.ends_with(mark)) name.remove_suffix(mark.size());
    if (!log_number(name)) return std::nullopt;
    return std::string(name);
}

std::optional<std::uint64_t> generation_of_file(std::string_view name) {
    for (const std::string_view kind :
         {segment::kSegmentKind, segment::kDeletesKind, segment::kGraphKind}) {
        if (!name.starts_with(kind) || name.size() <= kind.size() + 1) continue;
        std::uint64_t generation = 0;
        const auto [end, error] =
            std::from_chars(name.data() + kind.size() + 1, name.data() + name.size(), generation);
        if (error != std::errc() || store::section_file_name(kind, generation) != name) continue;
        return generation;
    }
    return std::nullopt;
}

std::vector<std::string> segment_files(const Manifest& manifest) {
    std::vector<std::string> names;
    for (const SegmentEntry& segment : manifest.segments) {
        names.push_back(store::section_file_name(segment::kSegmentKind, segment.generation));
    }
    if (manifest.deletes != 0) {
        names.push_back(store::section_file_name(segment::kDeletesKind, manifest.deletes));
    }
    return names;
}

std::vector<std::string> derived_files(const Manifest& manifest) {
    std::vector<std::string> names;
    for (const SegmentEntry& segment : manifest.segments) {
        names.push_back(store::section_file_name(segment::kGraphKind, segment.generation));
    }
    return names;
}

namespace {

/// The oldest format that can express a schema.
std::uint32_t format_for(const Schema& schema) {
    if (schema.vectors.precision == Precision::Int8) return kBytesFormat;
    const bool newer = schema.positions || schema.vectors.precision != Precision::F32;
    return newer ? kPositionsFormat : 0;
}

}  // namespace

std::vector<std::byte> write_manifest(const Manifest& manifest) {
    const bool segments = needs_segments_format(manifest);
    const std::uint32_t format =
        std::max({segments ? kSegmentsFormat : 0, format_for(manifest.schema), manifest.format});
    ByteWriter out;
    store::begin_sealed(out, kMagic, format);
    out.string(manifest.log);
    out.varint(manifest.version_base);
    docs::write_schema(out, manifest.schema);
    if (format >= kSegmentsFormat) write_segments(out, manifest);
    store::seal(out, format);
    return out.take();
}

bool is_whole_manifest(std::span<const std::byte> bytes) {
    ByteReader in(bytes, kManifestName);
    const auto magic = in.u32("magic number");
    const auto version = in.u32("version");
    const auto expected = in.u64("checksum");
    return magic && version && expected && *magic == kMagic &&
           store::checksum(in.rest(), *version) == *expected;
}

Result<Manifest> read_manifest(std::span<const std::byte> bytes, std::string_view source) {
    ByteReader in(bytes, source);
    BRAID_TRY(const std::uint32_t magic, in.u32("magic number"));
    if (magic != kMagic) return in.corrupt("this is not a manifest");
    BRAID_TRY(const std::uint32_t version, in.u32("version"));
    if (version > kNewestFormat) {
        return fail(ErrorCode::Unsupported, std::string(source) + ": format " +
                                                std::to_string(version) +
                                                " was written by a newer braid");
    }
    BRAID_TRY(const std::uint64_t expected, in.u64("checksum"));
    if (store::checksum(in.rest(), version) != expected) return in.corrupt("the checksum is wrong");
    Manifest manifest;
    manifest.format = version;
    BRAID_TRY(manifest.log, in.string("log name"));
    BRAID_TRY(manifest.version_base, in.varint("version base"));
    BRAID_TRY(manifest.schema, docs::read_schema(in));
    if (version >= kSegmentsFormat) BRAID_CHECK(read_segments(in, manifest));
    BRAID_CHECK(in.expect_end("manifest"));
    return manifest;
}

}  // namespace braid::local
