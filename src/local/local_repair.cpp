#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "braid/core/numbers.hpp"
#include "braid/local/backend.hpp"
#include "braid/local/file_check.hpp"
#include "braid/local/log_reading.hpp"
#include "braid/local/manifest_recovery.hpp"
#include "braid/local/segment_files.hpp"
#include "braid/segment/segment_format.hpp"
#include "braid/store/durable_mark.hpp"
#include "braid/store/log_check.hpp"
#include "braid/store/mapped_file.hpp"
#include "braid/store/section_file_format.hpp"

namespace braid::local {
namespace {

constexpr std::size_t kBatch = 64;

/// Keeps a damaged file under "damaged-" and its name, with a number appended if that is taken.
/// Returns the new name; none if the file is gone.
Result<std::string> keep_damaged(store::Directory& files, const std::string& file) {
    const auto damaged = files.open(file);
    if (!damaged) return std::string();
    BRAID_TRY(const auto entries, files.list());
    std::string name = "damaged-" + file;
    for (int i = 2; std::ranges::find(entries, name, &store::DirectoryEntry::name) != entries.end();
         ++i) {
        name = "damaged-" + file + "-" + std::to_string(i);
    }
    BRAID_CHECK(files.create(name, (*damaged)->bytes()));
    return files.path() + "/" + name;
}

struct FoundManifest {
    Manifest manifest;
    std::string damage;  // of the file; empty: it is intact
};

/// The manifest of a collection, or what its copy says. None if there never was one.
Result<std::optional<FoundManifest>> find_manifest(store::Directory& files) {
    const std::string path = files.path() + "/" + std::string(kManifestName);
    const auto file = files.open(kManifestName);
    const auto read = file ? read_manifest((*file)->bytes(), path)
                           : Result<Manifest>(tl::unexpected(file.error()));
    if (read) return FoundManifest{*read, ""};
    // Of a newer version, or with a damaged version number?
    if (read.error().code == ErrorCode::Unsupported && is_whole_manifest((*file)->bytes())) {
        return tl::unexpected(read.error());
    }
    auto recovered = recover_manifest(files);
    if (recovered) return FoundManifest{*std::move(recovered), read.error().message};
    if (!file && file.error().code == ErrorCode::NotFound) {
        if (const auto none = require_no_records(files); none) return std::nullopt;
    }
    return fail(ErrorCode::Corruption, read.error().message + "; nor can its copy be read (" +
                                           recovered.error().message +
                                           "): drop the collection, or restore a backup");
}

/// What the logs of a collection held that was acknowledged and cannot be read any more.
class LostRecords {
public:
    LostRecords(const store::Directory& files, const Manifest& manifest)
        : flushed_(manifest.flushed), last_(manifest.flushed) {
        for (const std::string& log : manifest.logs()) {
            const auto mark = store::read_durable_mark(files, log);
            if (mark && mark->next_sequence > 0) last_ = std::max(last_, mark->next_sequence - 1);
        }
    }

    void take(Sequence sequence) {
        last_ = std::max(last_, sequence);
        if (sequence > flushed_) ++read_;
    }
    /// Says how many are lost, and what that means.
    void tell(core::Findings& findings) const {
        if (last_ - flushed_ <= read_) return;
        const std::uint64_t lost = last_ - flushed_ - read_;
        findings.problem(
            core::count_of(lost, "acknowledged write is lost", "acknowledged writes are lost") +
            ": chunks that they added are gone, chunks that they deleted are back, "
            "chunks that they replaced are as before");
    }

private:
    Sequence flushed_;
    Sequence last_;  // that is known to have been written
    std::uint64_t read_ = 0;
};

/// What is wrong with the files of segments: checksums, and everything else they can tell.
Result<> check_damage(const store::Directory& files, const Manifest& manifest,
                      core::Findings& findings) {
    BRAID_TRY(const auto analyzer, text::Analyzer::create(analyzer_options(manifest.schema)));
    BRAID_CHECK(check_segments(files, manifest, analyzer, findings, {}));
    return {};
}

/// Copies the segments before they are removed.
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

/// Puts a manifest in place if everything else is intact, or rewrites a damaged copy.
Result<> mend_manifest(store::Directory& files, const std::string& name, const FoundManifest& found,
                       RepairReport& report) {
    RepairReport::Repaired mended{.collection = name, .kept = {}, .lost = {}};
    const auto bytes = write_manifest(found.manifest);
    if (!found.damage.empty()) {
        BRAID_TRY(mended.kept, keep_damaged(files, std::string(kManifestName)));
        BRAID_CHECK(files.replace(kManifestName, bytes));
        mended.lost.push_back("collection \"" + name + "\": " + found.damage +
                              "; restored from its copy, nothing is lost");
    } else {
        CheckReport copy;
        {
            core::Findings findings("collection \"" + name + "\"", copy);
            check_copy(files, findings);
        }
        if (copy.problems.empty()) return {};
        mended.lost.push_back(copy.problems.front() + "; rewritten, nothing is lost");
    }
    BRAID_CHECK(keep_copy(files, bytes));
    report.repaired.push_back(std::move(mended));
    return {};
}

/// Repairs one collection; does nothing if its files are intact.
Result<> mend(const store::Directory& parent, const std::string& name, RepairReport& report) {
    BRAID_TRY(const auto files, parent.open_subdirectory(name));
    BRAID_TRY(const auto manifest_found, find_manifest(*files));
    if (!manifest_found) return {};
    const auto& [manifest, manifest_damage] = *manifest_found;
    BRAID_CHECK(refuse_newer_files(*files, manifest));
    CheckReport found;
    bool damaged_segments = false;
    bool damaged_logs = false;
    {
        core::Findings findings("collection \"" + name + "\"", found);
        BRAID_CHECK(check_damage(*files, manifest, findings));
        damaged_segments = findings.problems() > 0;
        CheckReport logs;
        core::Findings in_logs("", logs);
        for (const std::string& log : manifest.logs()) {
            BRAID_CHECK(check_log_file(*files, log, manifest.format, {}, only_decode, in_logs));
        }
        damaged_logs = in_logs.problems() > 0;
    }
    if (!damaged_segments && !damaged_logs) {
        return mend_manifest(*files, name, *manifest_found, report);
    }
    LogReading reading({0, manifest.version_base}, std::numeric_limits<Sequence>::max());
    {
        core::Findings findings("collection \"" + name + "\"", found);
        BRAID_CHECK(salvage_segments(*files, manifest, reading, findings));
        LostRecords lost(*files, manifest);
        const auto take = [&](Sequence sequence, std::span<const std::byte> payload) -> Result<> {
            BRAID_CHECK(reading.add(sequence, payload));
            lost.take(sequence);
            return {};
        };
        for (const std::string& log : manifest.logs()) {
            reading.use({log_id_of(*files, log), manifest.version_base});
            BRAID_CHECK(check_log_file(*files, log, manifest.format, {}, take, findings));
        }
        lost.tell(findings);
        if (damaged_segments) BRAID_CHECK(keep_segments(*files, manifest));
    }
    if (!manifest_damage.empty()) found.problems.insert(found.problems.begin(), manifest_damage);
    if (reading.taken() == 0 && reading.chunks() == 0) {
        return fail(ErrorCode::Corruption,
                    "none of its chunks can be read; drop it, or restore a backup: " +
                        found.problems.front());
    }
    if (!manifest_damage.empty()) BRAID_CHECK(keep_damaged(*files, std::string(kManifestName)));
    BRAID_TRY(std::string kept, keep_damaged(*files, manifest.log));
    BRAID_CHECK(Collection::rebuild(parent, name, manifest, reading));
    report.repaired.push_back({.collection = name,
                               .records = found.records,
                               .chunks = reading.chunks(),
                               .kept = std::move(kept),
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
    // No version is given twice: lost records had sequence numbers too, at most one per byte.
    next.version_base +=
        std::max<Version>({saved.taken(), manifest.flushed,
                           manifest.flushed + (damaged ? (*damaged)->bytes().size() : 0),
                           durable ? durable->next_sequence : Version{0}});
    BRAID_CHECK(create_files(*files, next.schema, kCompactManifestName, next.log));
    BRAID_TRY(auto directory, parent.open_subdirectory(name));
    OpenSettings settings;
    settings.engine.engine = Engine::Exact;  // so that everything goes to the log
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
    (void)renew_copy(*files, next);
    // From here on it is intact; anything left over does no harm.
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
            report.unrepairable.push_back("collection \"" + entry.name +
                                          "\": " + mended.error().message);
        }
    }
    return report;
}

}  // namespace braid::local
