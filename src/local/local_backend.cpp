#include "braid/local/local_backend.hpp"

#include <algorithm>
#include <utility>

#include "braid/local/backend.hpp"

namespace braid::local {
namespace {

struct LocalSnapshot final : Snapshot {
    std::map<std::string, std::shared_ptr<const Collection::Pin>> pins;
};

/// Corruption if this is a copy of a database that was not finished: not an empty database.
Result<> require_no_unfinished_copy(const store::Directory& root) {
    const auto found = root.open_subdirectory(kUnfinishedName);
    if (!found) return {};
    return fail(ErrorCode::Corruption, root.path() +
                                           ": copying a database into this directory was begun and "
                                           "not finished; do it again");
}

tl::unexpected<Error> no_collection(const std::string& name) {
    return fail(ErrorCode::NotFound, "there is no collection \"" + name + "\"");
}

}  // namespace

Result<std::string> LocalBackend::open_one(const std::string& name) {
    const auto attempt = [&]() -> Result<Collection::Opened> {
        BRAID_TRY(auto directory, directory_->open_subdirectory(name));
        return Collection::open(name, std::move(directory), durability(), options_.read_only);
    };
    auto opened = attempt();
    // Another process may have put a new log in place between our reading manifest and log.
    if (!opened && options_.read_only) opened = attempt();
    if (!opened) return tl::unexpected(opened.error());
    collections_.insert_or_assign(name, std::move(opened->collection));
    if (collections_.at(name)->has_next()) unfinished_.insert(name);
    return opened->notes.empty() ? std::string() : opened->notes.front();
}

/// What cannot be removed is in nobody's way.
void LocalBackend::remove_leftovers(store::Directory& directory,
                                    std::vector<std::string>& notes) const {
    if (options_.read_only) return;
    const auto removed = directory.remove_leftovers();
    if (!removed) {
        notes.push_back("left-over files in " + directory.path() +
                        " cannot be removed: " + removed.error().message);
    }
}

Result<std::vector<std::string>> LocalBackend::open_collections() {
    auto directory = root_->open_subdirectory(kCollectionsName);
    if (!directory && directory.error().code == ErrorCode::NotFound) {
        BRAID_CHECK(require_no_unfinished_copy(*root_));
        if (!options_.read_only) directory = root_->subdirectory(kCollectionsName);
    }
    std::vector<std::string> notes;
    remove_leftovers(*root_, notes);
    if (!directory) {
        if (directory.error().code == ErrorCode::NotFound) return notes;
        return tl::unexpected(directory.error());
    }
    directory_ = *std::move(directory);
    remove_leftovers(*directory_, notes);
    BRAID_TRY(const auto entries, directory_->list());
    for (const store::DirectoryEntry& entry : entries) {
        if (!entry.is_directory || !validate_collection_name(entry.name)) continue;
        if (const auto own = directory_->open_subdirectory(entry.name)) {
            remove_leftovers(**own, notes);
        }
        const auto note = open_one(entry.name);
        if (note) {
            if (!note->empty()) notes.push_back(*note);
            continue;
        }
        // A directory without a manifest is a creation that was interrupted: as if it never was.
        if (note.error().code == ErrorCode::NotFound) continue;
        notes.push_back("collection \"" + entry.name +
                        "\" cannot be read: " + note.error().message);
        damaged_.insert_or_assign(entry.name, note.error());
    }
    return notes;
}

Result<> LocalBackend::create_collection(const std::string& name, const Schema& schema) {
    BRAID_CHECK(validate_collection_name(name));
    BRAID_CHECK(check_writable());
    const std::scoped_lock lock(mutex_);
    if (collections_.contains(name) || damaged_.contains(name)) {
        return fail(ErrorCode::AlreadyExists, "collection \"" + name + "\" exists already");
    }
    BRAID_TRY(const auto directory, directory_->subdirectory(name));
    BRAID_CHECK(Collection::create(*directory, schema));
    BRAID_CHECK(open_one(name));
    return {};
}

Result<> LocalBackend::drop_collection(const std::string& name) {
    BRAID_CHECK(check_writable());
    const std::unique_lock nobody_reads_files(files_mutex_);
    const std::unique_lock nobody_writes(switch_mutex_);
    const std::scoped_lock lock(mutex_);
    const auto found = collections_.find(name);
    if (found == collections_.end() && !damaged_.contains(name)) return no_collection(name);
    if (found != collections_.end()) {
        (void)found->second->close();  // its data is about to go anyway
    }
    const auto removed = directory_->remove_subdirectory(name);
    if (!removed) {
        // It may have gone all the same, and then it is no collection any more.
        const auto left = directory_->open_subdirectory(name);
        if (left || left.error().code != ErrorCode::NotFound) return removed;
    }
    if (found != collections_.end()) collections_.erase(found);
    damaged_.erase(name);
    unfinished_.erase(name);
    rewrites_.erase(name);
    return removed;
}

Result<std::shared_ptr<Collection>> LocalBackend::find(const std::string& name) const {
    const std::scoped_lock lock(mutex_);
    if (const auto found = collections_.find(name); found != collections_.end()) {
        return found->second;
    }
    if (const auto found = damaged_.find(name); found != damaged_.end()) {
        return fail("collection \"" + name + "\"", found->second);
    }
    return no_collection(name);
}

Result<LocalBackend::PinPtr> LocalBackend::find(const SnapshotPtr& snapshot,
                                                const ReadScope& scope) {
    const auto* local = dynamic_cast<const LocalSnapshot*>(snapshot.get());
    if (local == nullptr) {
        return invalid_argument("the snapshot is not one of this backend");
    }
    const auto found = local->pins.find(scope.collection);
    if (found == local->pins.end()) return no_collection(scope.collection);
    return found->second;
}

Result<std::vector<CollectionInfo>> LocalBackend::collections(const Principal& principal) const {
    std::vector<std::shared_ptr<Collection>> open;
    std::vector<CollectionInfo> infos;
    {
        const std::scoped_lock lock(mutex_);
        for (const auto& [name, collection] : collections_) open.push_back(collection);
        for (const auto& [name, error] : damaged_) {
            CollectionInfo& info = infos.emplace_back();
            info.name = name;
            info.damage = error.message;
        }
    }
    for (const auto& collection : open) {
        const auto pin = collection->pin();
        BRAID_TRY(CollectionInfo info, collection->info(pin->at(), principal));
        infos.push_back(std::move(info));
    }
    std::ranges::sort(infos, {}, &CollectionInfo::name);
    return infos;
}

Result<CollectionInfo> LocalBackend::describe(const std::string& name,
                                              const Principal& principal) const {
    BRAID_TRY(const auto collection, find(name));
    const auto pin = collection->pin();
    return collection->info(pin->at(), principal);
}

Result<SnapshotPtr> LocalBackend::snapshot(std::span<const std::string> collections) const {
    auto snapshot = std::make_shared<LocalSnapshot>();
    for (const std::string& name : collections) {
        BRAID_TRY(const auto collection, find(name));
        snapshot->pins.emplace(name, collection->pin());
    }
    return SnapshotPtr(std::move(snapshot));
}

Result<std::vector<std::optional<std::uint64_t>>> LocalBackend::rank_of(
    const SnapshotPtr& snapshot, const Leg& leg, std::span<const std::string> chunk_ids,
    const CallLimits& limits) const {
    Leg whole = leg;
    whole.depth = static_cast<std::size_t>(-1);
    BRAID_TRY(const LegResult result, search_leg(snapshot, whole, limits));
    std::unordered_map<std::string_view, std::uint64_t> ranks;
    for (const LegHit& hit : result.hits) ranks.emplace(hit.chunk_id, ranks.size() + 1);
    std::vector<std::optional<std::uint64_t>> answer;
    for (const std::string& id : chunk_ids) {
        const auto found = ranks.find(id);
        answer.push_back(found == ranks.end() ? std::nullopt : std::optional(found->second));
    }
    return answer;
}

Result<OpenedBackend> open_local_backend(std::unique_ptr<store::Directory> directory,
                                         const LocalOptions& options) {
    std::unique_ptr<store::DirectoryLock> lock;
    if (!options.read_only) {
        BRAID_TRY(lock, directory->lock(kLockName));
    }
    auto backend = std::make_unique<LocalBackend>(std::move(directory), std::move(lock), options);
    BRAID_TRY(std::vector<std::string> notes, backend->open_collections());
    if (options.log) {
        for (const std::string& note : notes) {
            options.log({LogEvent::Level::Warning, "collection_opened", note});
        }
    }
    return OpenedBackend{std::move(backend), std::move(notes)};
}

}  // namespace braid::local
