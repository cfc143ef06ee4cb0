#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "braid/local/backend.hpp"
#include "braid/local/file_check.hpp"
#include "braid/local/log_reading.hpp"
#include "braid/store/durable_mark.hpp"
#include "braid/store/log_check.hpp"

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

/// Mends one collection; does nothing if its log is whole.
Result<> mend(const store::Directory& parent, const std::string& name, RepairReport& report) {
    BRAID_TRY(const auto files, parent.open_subdirectory(name));
    BRAID_TRY(const auto manifest_file, files->open(kManifestName));
    BRAID_TRY(
        const Manifest manifest,
        read_manifest(manifest_file->bytes(), files->path() + "/" + std::string(kManifestName)));
    LogReading reading({log_id_of(*files, manifest.log), manifest.version_base},
                       std::numeric_limits<Sequence>::max());
    CheckReport found;
    {
        core::Findings findings("collection \"" + name + "\"", found);
        const auto take = [&](Sequence sequence, std::span<const std::byte> payload) {
            return reading.add(sequence, payload);
        };
        BRAID_CHECK(check_log_file(*files, manifest, {}, take, findings));
    }
    if (found.problems.empty()) return {};
    if (reading.taken() == 0) {
        return fail(ErrorCode::Corruption,
                    "nothing in its log can be read; drop it, or restore a snapshot: " +
                        found.problems.front());
    }
    BRAID_TRY(const auto log, files->open(manifest.log));
    BRAID_TRY(const std::string kept, name_to_keep(*files, manifest.log));
    BRAID_CHECK(files->create(kept, log->bytes()));
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
    BRAID_TRY(const auto damaged, files->open(manifest.log));
    Manifest next = manifest;
    next.format = kManifestFormat;
    BRAID_TRY(next.log, next_log(*files, manifest.log));
    // No version is given twice: lost records had sequence numbers too, at most one for each byte.
    next.version_base += std::max<Version>(
        {saved.taken(), damaged->bytes().size(), durable ? durable->next_sequence : Version{0}});
    BRAID_CHECK(create_files(*files, next.schema, kCompactManifestName, next.log));
    BRAID_TRY(auto directory, parent.open_subdirectory(name));
    BRAID_TRY(const Opened copy, open(name, std::move(directory), store::Durability::full(), false,
                                      Engine::Exact, kCompactManifestName));
    for (const auto& [space, chunks] : saved.namespaces()) {
        std::vector<Chunk> batch;
        for (const auto& [id, chunk] : chunks) {
            batch.push_back(chunk);
            if (batch.size() < kBatch && id != chunks.rbegin()->first) continue;
            BRAID_CHECK(copy.collection->put_copies(space, std::exchange(batch, {})));
        }
    }
    BRAID_CHECK(copy.collection->close());
    BRAID_CHECK(files->replace(kManifestName, write_manifest(next)));
    // From here on it is whole; what is left over does no harm.
    (void)files->remove(kCompactManifestName);
    (void)store::remove_log(*files, manifest.log);
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
