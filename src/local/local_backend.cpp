#include "braid/local/local_backend.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "braid/core/collection_list.hpp"
#include "braid/core/unknown_collection.hpp"
#include "braid/index/write_rules.hpp"
#include "braid/local/backend.hpp"
#include "braid/local/reader.hpp"
#include "braid/rank/model_json.hpp"

namespace braid::local {

Result<> LocalBackend::create_collection(const std::string& name, const Schema& schema) {
    return create(name, schema, Collection::Created::Filled);
}

Result<> LocalBackend::begin_collection(const std::string& name, const Schema& schema) {
    bool again = false;
    {
        const std::scoped_lock lock(mutex_);
        again = abandoned_.contains(name);
    }
    if (again) BRAID_CHECK(drop_collection(name));
    return create(name, schema, Collection::Created::Unfilled);
}

Result<> LocalBackend::finish_collection(const std::string& name) {
    BRAID_CHECK(check_writable());
    BRAID_TRY(const auto found, find(name));
    if (!found->unfinished()) {
        return index::not_being_filled(name);
    }
    return found->finish();
}

Result<> LocalBackend::set_ranker(const std::string& collection, const std::string& model) {
    if (!model.empty()) BRAID_CHECK(rank::read_model(model));
    BRAID_CHECK(check_writable());
    BRAID_TRY(const auto found, find(collection));
    return found->set_ranker(model);
}

Result<> LocalBackend::set_probes(const std::string& collection, const std::string& namespace_,
                                  const LegProbes& probes) {
    BRAID_CHECK(check_writable());
    BRAID_TRY(const auto found, find(collection));
    return found->set_probes(namespace_, probes);
}

Result<> LocalBackend::create(const std::string& name, const Schema& schema,
                              Collection::Created as) {
    BRAID_CHECK(validate_collection_name(name));
    BRAID_CHECK(check_writable());
    auto created = try_create(name, schema, as);
    if (!created && created.error().code == ErrorCode::ResourceExhausted) {
        close_idle(0);  // too many files are open
        created = try_create(name, schema, as);
    }
    if (created) close_idle(options_.max_open);
    return created;
}

Result<> LocalBackend::try_create(const std::string& name, const Schema& schema,
                                  Collection::Created as) {
    std::unique_lock lock(mutex_);
    settle(lock, name);
    if (names().contains(name) || damaged_.contains(name)) {
        return index::name_in_use(name);
    }
    BRAID_TRY(const auto directory, directory_->subdirectory(name));
    if (auto created = Collection::create(*directory, schema, as); !created) {
        // A full disk should leave not even the folder, if it is empty.
        const auto entries = directory->list();
        const auto others = directory->list_others();
        if (entries && others && entries->empty() && others->empty()) {
            (void)directory_->remove_subdirectory(name);
        }
        return created;
    }
    BRAID_TRY(const auto opened, open_files(name));
    take_in(name, opened);
    return {};
}

Result<> LocalBackend::drop_collection(const std::string& name) {
    BRAID_CHECK(check_writable());
    const std::unique_lock nobody_reads_files(files_mutex_);
    const std::unique_lock nobody_writes(switch_mutex_);
    std::unique_lock lock(mutex_);
    settle(lock, name);
    const auto found = collections_.find(name);
    if (!names().contains(name) && !damaged_.contains(name)) return core::no_collection(name);
    if (found != collections_.end()) {
        (void)found->second->close_for_good();
    }
    const auto removed = directory_->remove_subdirectory(name);
    if (!removed) {
        // It may be gone nevertheless, and then it is no longer a collection.
        const auto left = directory_->open_subdirectory(name);
        if (left || left.error().code != ErrorCode::NotFound) return removed;
    }
    if (found != collections_.end()) collections_.erase(found);
    closed_.erase(name);
    used_.erase(name);
    damaged_.erase(name);
    unfinished_.erase(name);
    abandoned_.erase(name);
    refusing_.erase(name);
    failed_at_bytes_.erase(name);
    rewrites_.erase(name);
    return removed;
}

Result<std::vector<CollectionInfo>> LocalBackend::collections(const Principal& principal) const {
    std::vector<CollectionInfo> infos;
    std::set<std::string> present;
    if (options_.read_only) look_for_new();
    {
        const std::scoped_lock lock(mutex_);
        present = names();
        for (const auto& [name, error] : damaged_) {
            CollectionInfo& info = infos.emplace_back();
            info.name = name;
            info.damage = error.message;
        }
    }
    for (const std::string& name : present) {
        core::add_described(infos, name, describe(name, principal));
    }
    std::ranges::sort(infos, {}, &CollectionInfo::name);
    return infos;
}

Result<CollectionInfo> LocalBackend::describe(const std::string& name,
                                              const Principal& principal) const {
    if (principal.sees_everything() && !options_.read_only) {
        const std::scoped_lock lock(mutex_);
        const auto closed = closed_.find(name);
        if (closed != closed_.end() && closed->second.info) return *closed->second.info;
    }
    BRAID_TRY(const auto collection, find(name));
    const auto pin = collection->pin();
    BRAID_TRY(CollectionInfo info, collection->info(pin->at(), principal));
    if (collection->unfinished()) info.damage = index::kUnfilled;
    return info;
}

Result<ReaderPtr> LocalBackend::snapshot(std::span<const std::string> collections,
                                         const CallLimits& limits) const {
    auto pins = std::make_shared<LocalReader::Pins>();
    for (const std::string& name : collections) {
        BRAID_TRY(const auto collection, find(name));
        pins->emplace(name, collection->pin());
    }
    return ReaderPtr(std::make_shared<LocalReader>(std::move(pins), limits));
}

Result<OpenedBackend> open_local_backend(std::unique_ptr<store::Directory> directory,
                                         const LocalOptions& options) {
    std::shared_ptr<const store::DirectoryLock> lock;
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
