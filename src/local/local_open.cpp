#include <algorithm>
#include <utility>

#include "braid/core/unknown_collection.hpp"
#include "braid/index/write_rules.hpp"
#include "braid/local/backend.hpp"

namespace braid::local {
namespace {

/// Corruption if this is an unfinished copy of a database: it must not pass for an empty one.
Result<> require_no_unfinished_copy(const store::Directory& root) {
    const auto found = root.open_subdirectory(kUnfinishedName);
    if (!found) return {};
    return fail(ErrorCode::Corruption, root.path() +
                                           ": a copy into this directory was not finished; copy "
                                           "again");
}

/// NotFound if somebody began to create a database, or a copy of one, and got no further than the
/// lock. To a reader, a directory with nothing in it is an empty database.
Result<> require_no_mere_lock(const store::Directory& root) {
    BRAID_TRY(const auto entries, root.list());
    if (std::ranges::find(entries, kLockName, &store::DirectoryEntry::name) == entries.end()) {
        return {};
    }
    return fail(ErrorCode::NotFound, "there is no database in " + root.path() +
                                         ": creating it, or copying one into it, was interrupted");
}

/// Runs at the end of a scope, however it is left.
template <class Action>
class AtEnd {
public:
    explicit AtEnd(Action action) : action_(std::move(action)) {}
    AtEnd(const AtEnd&) = delete;
    AtEnd& operator=(const AtEnd&) = delete;
    AtEnd(AtEnd&&) = delete;
    AtEnd& operator=(AtEnd&&) = delete;
    ~AtEnd() { action_(); }

private:
    Action action_;
};

}  // namespace

std::set<std::string> LocalBackend::names() const {
    std::set<std::string> all = busy_;
    for (const auto& [name, collection] : collections_) all.insert(name);
    for (const auto& [name, closed] : closed_) all.insert(name);
    return all;
}

Collection::OpenSettings LocalBackend::open_settings() const {
    Collection::OpenSettings settings;
    if (options_.relaxed_ms != 0) {
        settings.durability =
            store::Durability::relaxed(std::chrono::milliseconds(options_.relaxed_ms));
    }
    settings.read_only = options_.read_only;
    settings.engine.engine = options_.engine;
    settings.engine.policy.flush_rows = options_.flush_rows;
    settings.engine.policy.flush_bytes = options_.flush_bytes;
    settings.engine.policy.graph_vectors = options_.graph_vectors;
    settings.engine.policy.memory_bytes = options_.write_memory_bytes;
    settings.engine.caches = caches_;
    settings.flushes_in_background = options_.compaction.background;
    settings.flush_on_close_rows = options_.flush_on_close_rows;
    settings.lapsing_bytes = options_.cursor_bytes;
    settings.clock = [this] { return now(); };
    settings.lock = lock_;
    settings.derivation_due = [this](const std::string& name) { derivations_due_.add(name); };
    return settings;
}

Timestamp LocalBackend::now() const {
    constexpr std::int64_t noticeable = 1'000'000;  // a second
    const std::int64_t clock = (options_.clock ? options_.clock() : core::system_now()).micros;
    std::int64_t last = last_now_;
    while (last < clock && !last_now_.compare_exchange_weak(last, clock)) {
    }
    if (last <= clock || last - clock < noticeable) {
        clock_is_back_ = false;
    } else if (!clock_is_back_.exchange(true)) {
        tell(LogEvent::Level::Warning, "clock_set_back",
             "the clock was set back by " + std::to_string((last - clock) / noticeable) +
                 " seconds; what has expired stays expired, and nothing more expires until the "
                 "clock has caught up");
    }
    return {std::max(last, clock)};
}

Result<Collection::Opened> LocalBackend::open_files(const std::string& name) const {
    std::vector<std::string> notes;
    const auto attempt = [&]() -> Result<Collection::Opened> {
        BRAID_TRY(auto directory, directory_->open_subdirectory(name));
        notes.clear();
        remove_leftovers(*directory, notes);
        return Collection::open(name, std::move(directory), open_settings());
    };
    auto opened = attempt();
    // Another process may have replaced the files between our reading the manifest and them.
    constexpr int attempts = 5;
    for (int i = 1; !opened && options_.read_only && i < attempts; ++i) opened = attempt();
    if (opened) std::ranges::move(notes, std::back_inserter(opened->notes));
    return opened;
}

void LocalBackend::take_in(const std::string& name, const Collection::Opened& opened) const {
    collections_.insert_or_assign(name, opened.collection);
    used_[name] = ++uses_;
    if (opened.collection->has_next()) unfinished_.insert(name);
}

void LocalBackend::look_again(const std::string& name) const {
    if (directory_ == nullptr || !validate_collection_name(name)) return;
    std::unique_lock lock(mutex_);
    settle(lock, name);
    if (damaged_.contains(name)) return;
    const auto files = directory_->open_subdirectory(name);
    const auto manifest =
        files ? (*files)->open(kManifestName)
              : Result<std::unique_ptr<store::FileView>>(tl::unexpected(files.error()));
    if (!manifest && manifest.error().code != ErrorCode::NotFound) return;
    const auto open = collections_.find(name);
    if (manifest && open != collections_.end() && !open->second->is_behind()) return;
    if (open != collections_.end()) collections_.erase(open);
    unfinished_.erase(name);
    abandoned_.erase(name);
    if (manifest) {
        closed_.insert_or_assign(name, Closed{});
    } else {
        closed_.erase(name);
    }
}

void LocalBackend::look_for_new() const {
    if (directory_ == nullptr) return;
    const auto entries = directory_->list();
    if (!entries) return;
    std::vector<std::string> unknown;
    {
        const std::scoped_lock lock(mutex_);
        const std::set<std::string> known = names();
        for (const store::DirectoryEntry& entry : *entries) {
            if (entry.is_directory && !known.contains(entry.name)) unknown.push_back(entry.name);
        }
    }
    for (const std::string& name : unknown) look_again(name);
}

Result<std::shared_ptr<Collection>> LocalBackend::find(const std::string& name) const {
    if (options_.read_only) look_again(name);
    {
        std::unique_lock lock(mutex_);
        settle(lock, name);
        if (const auto found = collections_.find(name); found != collections_.end()) {
            used_[name] = ++uses_;
            return found->second;
        }
        if (const auto found = damaged_.find(name); found != damaged_.end()) {
            return fail("collection \"" + name + "\"", found->second);
        }
        if (!closed_.contains(name)) return core::no_collection(name);
        busy_.insert(name);
    }
    auto opened = open_closed(name);
    if (opened) close_idle(options_.max_open);
    return opened;
}

/// The caller has marked it as busy.
Result<std::shared_ptr<Collection>> LocalBackend::open_closed(const std::string& name) const {
    const AtEnd settled([&] {
        const std::scoped_lock lock(mutex_);
        busy_.erase(name);
        settled_.notify_all();
    });
    auto opened = open_files(name);
    if (!opened && opened.error().code == ErrorCode::ResourceExhausted) {
        close_idle(0);  // too many files are open
        opened = open_files(name);
    }
    const std::scoped_lock lock(mutex_);
    if (!opened) {
        // Running out of memory or descriptors is not damage: the next use may find some.
        if (opened.error().code != ErrorCode::ResourceExhausted) {
            closed_.erase(name);
            damaged_.insert_or_assign(name, opened.error());
            tell(LogEvent::Level::Warning, "collection_opened",
                 "collection \"" + name + "\" cannot be read: " + opened.error().message);
        }
        return fail("collection \"" + name + "\"", opened.error());
    }
    const auto closed = closed_.extract(name);
    take_in(name, *opened);
    if (!closed.mapped().info && opened->collection->unfinished()) abandoned_.insert(name);
    for (const std::string& note : opened->notes) {
        tell(LogEvent::Level::Warning, "collection_opened", note);
    }
    return std::move(opened->collection);
}

void LocalBackend::close_idle(std::size_t keep) const {
    while (true) {
        std::shared_ptr<Collection> idle;
        {
            const std::scoped_lock lock(mutex_);
            if (collections_.size() <= keep) return;
            auto oldest = collections_.end();
            for (auto one = collections_.begin(); one != collections_.end(); ++one) {
                // Only this map knows it: nobody reads, writes or rewrites it, or has a snapshot of
                // it.
                if (one->second.use_count() != 1 || one->second->refusal()) continue;
                if (oldest == collections_.end() || used_[one->first] < used_[oldest->first]) {
                    oldest = one;
                }
            }
            if (oldest == collections_.end()) return;
            idle = std::move(oldest->second);
            busy_.insert(oldest->first);
            collections_.erase(oldest);
        }
        const std::string name = idle->name();
        std::optional<CollectionInfo> info;
        const AtEnd settled([&] {
            const std::scoped_lock lock(mutex_);
            closed_.insert_or_assign(name, Closed{std::move(info)});
            busy_.erase(name);
            settled_.notify_all();
        });
        if (idle->may_expire()) {
            // Counted again when somebody asks.
        } else if (auto known = idle->info(idle->pin()->at(), {}))
            info = *std::move(known);
        if (info && idle->unfinished()) info->damage = index::kUnfilled;
        if (const auto closed = idle->close(); !closed) {
            tell(LogEvent::Level::Error, "close_failed",
                 "collection \"" + name + "\": " + closed.error().message);
        }
        idle.reset();
    }
}

std::vector<std::shared_ptr<Collection>> LocalBackend::open_all() const {
    std::set<std::string> present;
    {
        const std::scoped_lock lock(mutex_);
        present = names();
    }
    std::vector<std::shared_ptr<Collection>> open;
    for (const std::string& name : present) {
        if (auto found = find(name)) open.push_back(*std::move(found));
    }
    return open;
}

/// Whatever cannot be removed is in nobody's way.
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
        if (options_.read_only) {
            BRAID_CHECK(require_no_mere_lock(*root_));
            return std::vector<std::string>();
        }
        directory = root_->subdirectory(kCollectionsName);
    }
    std::vector<std::string> notes;
    remove_leftovers(*root_, notes);
    if (!directory) return tl::unexpected(directory.error());
    directory_ = *std::move(directory);
    remove_leftovers(*directory_, notes);
    BRAID_TRY(const auto entries, directory_->list());
    for (const store::DirectoryEntry& entry : entries) {
        if (!entry.is_directory || !validate_collection_name(entry.name)) continue;
        open_at_start(entry.name, notes);
    }
    for (const auto& [name, collection] : collections_) {
        if (wants_compaction(*collection)) compactions_due_.add(name);
        if (collection->flush_due()) flushes_due_.add(name);
        if (collection->merge_due()) merges_due_.add(name);
        if (collection->derivation_due()) derivations_due_.add(name);
    }
    return notes;
}

void LocalBackend::open_at_start(const std::string& name, std::vector<std::string>& notes) {
    if (collections_.size() >= options_.max_open) {
        const auto files = directory_->open_subdirectory(name);
        if (files && (*files)->open(kManifestName)) {
            closed_.try_emplace(name);
            return;
        }
    }
    const auto opened = open_files(name);
    if (opened) {
        take_in(name, *opened);
        if (opened->collection->unfinished()) abandoned_.insert(name);
        notes.insert(notes.end(), opened->notes.begin(), opened->notes.end());
        return;
    }
    // A directory without a manifest is an interrupted creation: treated as if it did not exist.
    if (opened.error().code == ErrorCode::NotFound) return;
    if (opened.error().code == ErrorCode::ResourceExhausted && !collections_.empty()) {
        closed_.try_emplace(name);  // too many files are open; perhaps not when it is used
        return;
    }
    notes.push_back("collection \"" + name + "\" cannot be read: " + opened.error().message);
    damaged_.insert_or_assign(name, opened.error());
}

}  // namespace braid::local
