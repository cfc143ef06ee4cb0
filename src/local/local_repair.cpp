#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "braid/local/backend.hpp"
#include "braid/local/file_check.hpp"
#include "braid/local/log_reading.hpp"
#include "braid/local/segment_files.hpp"
#include "braid/segment/segment_format.hpp"
#include "braid/store/durable_mark.hpp"
#include "braid/store/log_check.hpp"
#include "braid/store/mapped_file.hpp"
#include "braid/store/section_file_format.hpp"

namespace braid::local {
namespace {

constexpr std::size_t kBatch = 64;

/// "damaged-log-000001", or with a number behind it if that is taken.
Result<std::string> name_to_keep(const store::Directory& files, const std::string& log) {
    BRAID_TRY(const auto entries, files.list());
    std::string name = "damaged-" + log;
    for (int i = 2; std::ranges::find(entries, name, &store::DirectoryEntry::name) != entries.end();
         ++i) {
        name = "damaged-" + log + "-" + std::to_string(i);
    }
    return name;
}

/// What is wrong with the files of segments, checksums and all that can be told from them.
Result<> check_damage(const store::Directory& files, const Manifest& manifest,
                      core::Findings& findings) {
    BRAID_TRY(const auto analyzer, text::Analyzer::create(analyzer_options(manifest.schema)));
    BRAID_CHECK(check_segments(files, manifest, analyzer, findings, {}));
    return {};
}

/// Copies of the segments, before they go.
Result<> keep_segments(store::Directory& files, const Manifest& manifest) {
    for (const SegmentEntry& segment : manifest.segments) {
        const std::string name =
            store::section_file_name(segment::kSegmentKind, segment.generation);
        const auto file = files.map(name);
        if (!file) continue;  // gone
        auto kept = files.create("damaged-" + name, (*file)->bytes());
        if (!kept && kept.error().code != ErrorCode::AlreadyExists) return kept;
    }
    return {};
}

/// Mends one collection; does nothing if its files are whole.
Result<> mend(const store::Directory& parent, const std::string& name, RepairReport& report) {
    BRAID_TRY(const auto files, parent.open_subdirectory(name));
    BRAID_TRY(const auto manifest_file, files->open(kManifestName));
    BRAID_TRY(
        const Manifest manifest,
        read_manifest(manifest_file->bytes(), files->path() + "/" + std::string(kManifestName)));
    LogReading reading({0, manifest.version_base}, std::numeric_limits<Sequence>::max());
    CheckReport found;
    {
        core::Findings findings("collection \"" + name + "\"", found);
        BRAID_CHECK(check_damage(*files, manifest, findings));
        const bool damaged_segments = findings.problems() > 0;
        BRAID_CHECK(salvage_segments(*files, manifest, reading, findings));
        const auto take = [&](Sequence sequence, std::span<const std::byte> payload) {
            return reading.add(sequence, payload);
        };
        for (const std::string& log : manifest.logs()) {
            reading.use({log_id_of(*files, log), manifest.version_base});
            BRAID_CHECK(check_log_file(*files, log, manifest.format, {}, take, findings));
        }
        if (damaged_segments) BRAID_CHECK(keep_segments(*files, manifest));
    }
    if (found.problems.empty()) return {};
    if (reading.taken() == 0 && reading.chunks() == 0) {
        return fail(ErrorCode::Corruption,
                    "nothing in its log can be read; drop it, or restore a snapshot: " +
                        found.problems.front());
    }
    BRAID_TRY(const std::string kept, name_to_keep(*files, manifest.log));
    if (const auto log = files->open(manifest.log))
        BRAID_CHECK(files->create(kept, (*log)->bytes()));
    BRAID_CHECK(Collection::rebuild(parent, name, manifest, reading));
    report.mended.push_back({.collection = name,
                             .records = found.records,
                             .chunks = reading.chunks(),
                             .kept = files->path() + "/" + kept,
                             .lost = std::move(found.problems)});
    return {};
}

}  // namespace

Result<> Collection::rebuild(const store::Directory& parent, const std::string& name,
                             const Manifest& manifest, const LogReading& saved) {
    BRAID_TRY(auto files, parent.open_subdirectory(name));
    const auto durable = store::read_durable_mark(*files, manifest.log);
    const auto damaged = files->open(manifest.log);
    Manifest next;
    next.schema = manifest.schema;
    next.version_base = manifest.version_base;
    BRAID_TRY(next.log, next_log(*files, manifest.log));
    // No version is given twice: lost records had sequence numbers too, at most one for each byte.
    next.version_base +=
        std::max<Version>({saved.taken(), manifest.flushed,
                           manifest.flushed + (damaged ? (*damaged)->bytes().size() : 0),
                           durable ? durable->next_sequence : Version{0}});
    BRAID_CHECK(create_files(*files, next.schema, kCompactManifestName, next.log));
    BRAID_TRY(auto directory, parent.open_subdirectory(name));
    OpenSettings settings;
    settings.engine.engine = Engine::Exact;  // so that all of it is in the log
    BRAID_TRY(const Opened copy, open(name, std::move(directory), settings, kCompactManifestName));
    for (const auto& [space, chunks] : saved.namespaces()) {
        std::vector<Chunk> batch;
        for (const auto& [id, chunk] : chunks) {
            batch.push_back(chunk);
            if (batch.size() < kBatch && id != chunks.rbegin()->first) continue;
            BRAID_CHECK(copy.collection->put_copies(space, std::exchange(batch, {})));
        }
    }
    BRAID_CHECK(copy.collection->close());
    next.format = copy.collection->format_;
    BRAID_CHECK(files->replace(kManifestName, write_manifest(next)));
    // From here on it is whole; what is left over does no harm.
    (void)files->remove(kCompactManifestName);
    for (const std::string& log : manifest.logs()) (void)store::remove_log(*files, log);
    for (const std::string& file : segment_files(manifest)) (void)files->remove(file);
    for (const std::string& file : derived_files(manifest)) (void)files->remove(file);
    return {};
}

Result<RepairReport> repair_database(store::Directory& root) {
    BRAID_TRY(const auto lock, root.lock(kLockName));
    BRAID_TRY(const auto parent, root.open_subdirectory(kCollectionsName));
    BRAID_TRY(const auto entries, parent->list());
    RepairReport report;
    for (const store::DirectoryEntry& entry : entries) {
        if (!entry.is_directory) continue;
        BRAID_CHECK(lock->verify());
        if (const auto mended = mend(*parent, entry.name, report); !mended) {
            report.beyond.push_back("collection \"" + entry.name + "\": " + mended.error().message);
        }
    }
    return report;
}

}  // namespace braid::local
