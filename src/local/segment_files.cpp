#include "braid/local/segment_files.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "braid/core/limits.hpp"
#include "braid/local/engine.hpp"
#include "braid/segment/segment_check.hpp"
#include "braid/segment/segment_index.hpp"
#include "braid/store/file_writer.hpp"
#include "braid/store/log_format.hpp"
#include "braid/store/mapped_file.hpp"
#include "braid/store/section_file.hpp"

namespace braid::local {
namespace {

std::vector<std::uint64_t> generations_of(const Manifest& manifest) {
    std::vector<std::uint64_t> generations;
    for (const SegmentEntry& segment : manifest.segments) generations.push_back(segment.generation);
    return generations;
}

/// An index of what the files hold.
Result<std::shared_ptr<segment::SegmentIndex>> open_segments(const store::Directory& files,
                                                             const Manifest& manifest,
                                                             const text::Analyzer& analyzer) {
    auto index =
        std::make_shared<segment::SegmentIndex>(manifest.schema, analyzer, segment::Caches::make());
    BRAID_CHECK(index->load(files, generations_of(manifest), manifest.deletes, manifest.flushed));
    return index;
}

}  // namespace

Result<std::uint64_t> check_segments(const store::Directory& files, const Manifest& manifest,
                                     const text::Analyzer& analyzer, core::Findings& findings,
                                     const CallLimits& limits) {
    for (const SegmentEntry& entry : manifest.segments) {
        const auto opened =
            segment::Segment::open(files, entry.generation, segment::Caches::make());
        if (!opened) {
            findings.problem(opened.error().message);
            continue;
        }
        if ((*opened)->rows() != entry.rows || (*opened)->bytes() != entry.bytes) {
            findings.problem((*opened)->file().path() +
                             ": it is not the file that the manifest records");
        }
        BRAID_CHECK(segment::check_segment(**opened, manifest.schema, analyzer, findings, limits));
        BRAID_CHECK(segment::check_graphs(files, **opened, findings, limits));
    }
    if (findings.problems() > 0) return 0;
    const auto index = open_segments(files, manifest, analyzer);
    if (!index) {
        findings.problem(index.error().message);
        return 0;
    }
    std::uint64_t dead = 0;
    const segment::StatePtr state = (*index)->state();
    for (const auto& one : state->segments) dead += one->dead();
    return dead;
}

Result<> begin_reading(const store::Directory& files, const Manifest& manifest,
                       const text::Analyzer& analyzer, bool all, LogReading& reading) {
    if (manifest.segments.empty()) return {};
    BRAID_TRY(const auto index, open_segments(files, manifest, analyzer));
    const Principal everybody;
    const auto view_of = [index, everybody, at = manifest.flushed](const std::string& space) {
        return index->view({.namespace_ = space, .principal = everybody, .at = at, .limits = {}});
    };
    if (!all) {
        reading.look_up([index, view_of](const std::string& space,
                                         const std::string& id) -> Result<std::optional<Chunk>> {
            BRAID_TRY(const auto view, view_of(space));
            BRAID_TRY(auto chunks, view->fetch(std::span(&id, 1), true));
            return std::move(chunks.front());
        });
        return {};
    }
    return each_stored(*index, [&](const std::string& space, std::vector<Chunk> chunks) {
        for (Chunk& chunk : chunks) reading.put(space, std::move(chunk));
        return Result<>();
    });
}

namespace {

template <class T>
Result<> refuse_newer(const Result<T>& read) {
    if (read || read.error().code != ErrorCode::Unsupported) return {};
    return tl::unexpected<Error>(read.error());
}

}  // namespace

Result<> refuse_newer_files(const store::Directory& files, const Manifest& manifest) {
    for (const SegmentEntry& entry : manifest.segments) {
        const auto one = segment::Segment::open(files, entry.generation, segment::Caches::make());
        BRAID_CHECK(refuse_newer(one));
        if (!one) continue;
        for (const auto& space : (*one)->spaces()) BRAID_CHECK(refuse_newer(space->part()));
    }
    if (manifest.deletes != 0) {
        const auto name = store::section_file_name(segment::kDeletesKind, manifest.deletes);
        BRAID_CHECK(refuse_newer(store::SectionFile::open(files, name)));
    }
    for (const std::string& log : manifest.logs()) {
        const auto file = files.open(log);
        if (!file) continue;
        const std::string path = files.path() + "/" + log;
        BRAID_CHECK(refuse_newer(store::decode_log_header((*file)->bytes(), path)));
    }
    return {};
}

namespace {

/// The readable rows of one namespace that are not deleted.
void salvage_space(const segment::Segment& segment, const segment::Segment::Space& space,
                   LogReading& reading, core::Findings& findings) {
    const std::string where =
        segment.file().path() + ", namespace \"" + space.meta().namespace_ + "\": ";
    const auto part = space.part();
    if (!part) {
        findings.problem(where + std::to_string(space.meta().rows) +
                         " chunks are lost: " + part.error().message);
        return;
    }
    std::uint64_t lost = 0;
    std::string first;
    for (std::uint32_t row = 0; row < (*part)->rows(); ++row) {
        if (space.deaths.dead(row, 0)) continue;
        auto chunk = (*part)->chunk(row, true);
        if (chunk) {
            reading.put(space.meta().namespace_, *std::move(chunk));
            continue;
        }
        const auto id = (*part)->documents().chunk_id(row);
        if (++lost <= 20) {
            findings.problem(where + (id ? "chunk \"" + *id + "\"" : "row " + std::to_string(row)) +
                             " is lost: " + chunk.error().message);
        }
    }
    if (lost > 20) findings.problem(where + std::to_string(lost - 20) + " more chunks are lost");
}

}  // namespace

Result<> salvage_segments(const store::Directory& files, const Manifest& manifest,
                          LogReading& reading, core::Findings& findings) {
    BRAID_TRY(const auto analyzer, text::Analyzer::create(analyzer_options(manifest.schema)));
    Manifest readable = manifest;
    std::erase_if(readable.segments, [&](const SegmentEntry& entry) {
        const auto one = segment::Segment::open(files, entry.generation, segment::Caches::make());
        if (!one) {
            findings.problem(one.error().message + "; its " + std::to_string(entry.rows) +
                             " rows are lost (some may have been deleted or replaced before)");
        }
        return !one;
    });
    auto index = open_segments(files, readable, analyzer);
    if (!index) {
        findings.problem(
            index.error().message +
            "; the list of deleted and replaced chunks cannot be read: what was deleted before the "
            "last flush is back, unless its segment was merged since");
        readable.deletes = 0;
        index = open_segments(files, readable, analyzer);
    }
    if (!index) return tl::unexpected(std::move(index).error());
    const segment::StatePtr state = (*index)->state();
    for (const auto& one : state->segments) {
        for (const auto& space : one->spaces()) salvage_space(*one, *space, reading, findings);
    }
    return {};
}

Result<> copy_file(const store::Directory& from, const std::string& name, store::Directory& to) {
    constexpr std::size_t piece = std::size_t{4} << 20;
    BRAID_TRY(const auto file, from.map(name));
    BRAID_TRY(const auto writer, to.write_file(name));
    const auto bytes = file->bytes();
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        BRAID_CHECK(writer->write(bytes.subspan(at, std::min(piece, bytes.size() - at))));
    }
    BRAID_CHECK(file->intact());
    return writer->finish();
}

}  // namespace braid::local
