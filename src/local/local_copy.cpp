#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "braid/core/findings.hpp"
#include "braid/core/limits.hpp"
#include "braid/index/write_rules.hpp"
#include "braid/local/backend.hpp"
#include "braid/store/posix_directory.hpp"

namespace braid::local {
namespace {

tl::unexpected<Error> not_empty(const store::Directory& directory, const std::string& name) {
    return fail(ErrorCode::AlreadyExists, directory.path() + " is not empty: it holds \"" + name +
                                              "\"; a copy needs a directory of its own");
}

/// AlreadyExists if there is anything but the remains of an unfinished copy.
Result<> require_empty(const store::Directory& directory) {
    BRAID_TRY(const auto entries, directory.list());
    for (const store::DirectoryEntry& entry : entries) {
        if (entry.name == kLockName || entry.name == kUnfinishedName) continue;
        return not_empty(directory, entry.name);
    }
    BRAID_TRY(const auto others, directory.list_others());
    for (const std::string& name : others) {
        if (!store::is_leftover_name(name)) return not_empty(directory, name);
    }
    return {};
}

/// An empty place for the copy. From here on the directory does not open as a database, whatever
/// happens.
Result<> make_place(store::Directory& directory) {
    BRAID_TRY(const auto place, directory.subdirectory(kUnfinishedName));
    BRAID_TRY(const auto entries, place->list());
    for (const store::DirectoryEntry& entry : entries) {
        BRAID_CHECK(entry.is_directory ? place->remove_subdirectory(entry.name)
                                       : place->remove(entry.name));
    }
    return {};
}

Result<> remove_unfinished(store::Directory& directory) {
    auto removed = directory.remove_subdirectory(kUnfinishedName);
    if (!removed && removed.error().code != ErrorCode::NotFound) return removed;
    return {};
}

}  // namespace

Result<std::vector<LocalBackend::Source>> LocalBackend::capture(CheckReport& report) const {
    const auto kept_open = open_all();
    const std::unique_lock nobody_writes(switch_mutex_);
    const std::scoped_lock lock(mutex_);
    if (!closed_.empty() || !busy_.empty()) {
        return fail(ErrorCode::Unavailable,
                    "the database cannot be copied now: its collections cannot all be opened at "
                    "once, or new ones are being created");
    }
    if (!damaged_.empty()) {
        const auto& [name, error] = *damaged_.begin();
        return fail(ErrorCode::Corruption,
                    "collection \"" + name + "\" cannot be copied: " + error.message +
                        "; repair it (\"braid repair\"), drop it, or put a good copy in its place");
    }
    std::vector<Source> sources;
    sources.reserve(collections_.size());
    for (const auto& [name, collection] : collections_) {
        if (collection->unfinished()) {  // nobody may see it here either
            core::Findings("collection \"" + name + "\"", report)
                .note(std::string("left out: ") + index::kUnfilled);
            continue;
        }
        sources.push_back({collection, collection->extent()});
    }
    return sources;
}

Result<CheckReport> LocalBackend::copy_into(store::Directory& destination,
                                            const std::vector<Source>& sources, CheckReport report,
                                            const CallLimits& limits) {
    BRAID_TRY(const auto copies, destination.subdirectory(kUnfinishedName));
    for (const auto& [collection, extent] : sources) {
        BRAID_CHECK(core::check_limits(limits));
        BRAID_TRY(const auto files, copies->subdirectory(collection->name()));
        BRAID_CHECK(collection->copy_files(extent, *files));
        // Read back and compared with what is in memory.
        BRAID_CHECK(collection->check(extent, *files, report, limits));
        if (report.problems.empty()) continue;
        return fail(ErrorCode::Corruption,
                    "the copy differs from the original: " + report.problems.front());
    }
    // Only now does it become a database, with all its collections at once.
    BRAID_CHECK(destination.rename_subdirectory(kUnfinishedName, kCollectionsName));
    return report;
}

Result<CheckReport> LocalBackend::copy_to(store::Directory& destination,
                                          const CallLimits& limits) const {
    BRAID_CHECK(core::check_limits(limits));
    BRAID_CHECK(require_empty(destination));
    BRAID_CHECK(destination.subdirectory(kUnfinishedName));  // before the lock's file is there
    BRAID_TRY(const auto held, destination.lock(kLockName));
    const auto attempt = [&]() -> Result<CheckReport> {
        BRAID_CHECK(destination.remove_leftovers());
        BRAID_CHECK(require_empty(destination));
        BRAID_CHECK(make_place(destination));
        const std::shared_lock nothing_is_removed(files_mutex_);
        CheckReport report;
        BRAID_TRY(const auto sources, capture(report));
        return copy_into(destination, sources, std::move(report), limits);
    };
    auto copied = attempt();
    if (!copied) (void)remove_unfinished(destination);  // the first error is the one to report
    return copied;
}

Result<CheckReport> LocalBackend::backup(const std::filesystem::path& path,
                                         const CallLimits& limits) const {
    std::error_code unknown;
    const auto target = std::filesystem::weakly_canonical(path, unknown);
    const auto own = std::filesystem::weakly_canonical(directory_->path(), unknown).parent_path();
    if (std::ranges::mismatch(own, target).in1 == own.end()) {
        return invalid_argument(path.string() + " lies inside the database " + own.string() +
                                "; a copy needs a directory of its own elsewhere");
    }
    const bool present = std::filesystem::exists(path, unknown);
    const bool fresh = !present || std::filesystem::is_empty(path, unknown);
    auto copied = [&]() -> Result<CheckReport> {
        BRAID_TRY(const auto directory,
                  store::open_posix_directory(path, store::OpenMode::CreateIfMissing));
        return copy_to(*directory, limits);
    }();
    // A failed copy leaves nothing that could be taken for a copy, not even an empty database.
    if (!copied && fresh && copied.error().code != ErrorCode::Locked) {
        std::filesystem::remove(path / kLockName, unknown);
        if (!present) std::filesystem::remove(path, unknown);
    }
    return copied;
}

}  // namespace braid::local
