#include "braid/local/local_backend.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "braid/local/collection.hpp"
#include "braid/store/directory.hpp"

namespace braid::local {
namespace {

constexpr std::string_view kLockName = "LOCK";
constexpr std::string_view kCollectionsName = "collections";

struct LocalSnapshot final : Snapshot {
    std::map<std::string, std::shared_ptr<const Collection::Pin>> pins;
};

tl::unexpected<Error> no_collection(const std::string& name) {
    return fail(ErrorCode::NotFound, "there is no collection \"" + name + "\"");
}

struct RewriteProgress {
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> total{0};
};

class LocalBackend final : public Backend {
public:
    LocalBackend(std::unique_ptr<store::Directory> root, std::unique_ptr<store::DirectoryLock> lock,
                 LocalOptions options)
        : lock_(std::move(lock)), root_(std::move(root)), options_(std::move(options)) {}

    ~LocalBackend() override {
        for (const auto& [name, collection] : collections_) (void)collection->close();
    }
    LocalBackend(const LocalBackend&) = delete;
    LocalBackend& operator=(const LocalBackend&) = delete;
    LocalBackend(LocalBackend&&) = delete;
    LocalBackend& operator=(LocalBackend&&) = delete;

    Result<std::vector<std::string>> open_collections();

    Capabilities capabilities() const override {
        return {.exact_lengths = true,
                .scoped_statistics = true,
                .live_df = true,
                .exact_dense = true,
                .snapshots = true,
                .read_your_writes = true,
                .atomic_batches = true};
    }

    Result<> create_collection(const std::string& name, const Schema& schema) override;
    Result<> drop_collection(const std::string& name) override;
    Result<std::vector<CollectionInfo>> collections(const Principal& principal) const override;
    Result<CollectionInfo> describe(const std::string& name,
                                    const Principal& principal) const override;

    Result<WriteReport> upsert(const std::string& collection, const std::string& namespace_,
                               std::vector<Chunk> chunks, const WriteOptions& options) override {
        const std::shared_lock writing(switch_mutex_);
        BRAID_TRY(const auto found, find(collection));
        BRAID_CHECK(check_writable());
        return found->upsert(namespace_, std::move(chunks), options);
    }
    Result<WriteReport> update(const std::string& collection, const std::string& namespace_,
                               std::vector<MetadataUpdate> updates,
                               const WriteOptions& options) override {
        const std::shared_lock writing(switch_mutex_);
        BRAID_TRY(const auto found, find(collection));
        BRAID_CHECK(check_writable());
        return found->update(namespace_, std::move(updates), options);
    }
    Result<WriteReport> remove(const ReadScope& scope, const DeleteSelector& selector,
                               const WriteOptions& options) override {
        const std::shared_lock writing(switch_mutex_);
        BRAID_TRY(const auto found, find(scope.collection));
        BRAID_CHECK(check_writable());
        return found->remove(scope, selector, options);
    }

    Result<std::unique_ptr<Rewrite>> rewrite(const std::string& collection,
                                             const Schema& schema) override;
    std::optional<std::string> rewriting(const std::string& collection) const override;
    /// Puts `next` in the place of the collection of its name, if nothing is pending.
    Result<bool> switch_over(const std::shared_ptr<Collection>& source,
                             const std::shared_ptr<Collection>& next);

    Result<SnapshotPtr> snapshot(std::span<const std::string> collections) const override;

    Result<Schema> schema(const SnapshotPtr& snapshot,
                          const std::string& collection) const override {
        BRAID_TRY(const auto pin, find(snapshot, {.collection = collection}));
        return pin->collection().schema();
    }
    Result<LegResult> search_leg(const SnapshotPtr& snapshot, const Leg& leg,
                                 const CallLimits& limits) const override {
        BRAID_TRY(const auto pin, find(snapshot, leg.scope));
        return pin->collection().search(pin->at(), leg, limits);
    }
    Result<std::vector<std::optional<double>>> score(
        const SnapshotPtr& snapshot, const Leg& leg,
        std::span<const std::string> chunk_ids) const override {
        BRAID_TRY(const auto pin, find(snapshot, leg.scope));
        return pin->collection().score(pin->at(), leg, chunk_ids);
    }
    Result<std::vector<std::optional<std::uint64_t>>> rank_of(
        const SnapshotPtr& snapshot, const Leg& leg,
        std::span<const std::string> chunk_ids) const override;
    Result<std::vector<std::optional<Chunk>>> fetch(const SnapshotPtr& snapshot,
                                                    const ReadScope& scope,
                                                    std::span<const std::string> chunk_ids,
                                                    bool with_vectors) const override {
        BRAID_TRY(const auto pin, find(snapshot, scope));
        return pin->collection().fetch(pin->at(), scope, chunk_ids, with_vectors);
    }
    Result<std::vector<Chunk>> neighbors(const SnapshotPtr& snapshot, const ReadScope& scope,
                                         const std::string& document_id, std::int64_t index,
                                         std::size_t before, std::size_t after) const override {
        BRAID_TRY(const auto pin, find(snapshot, scope));
        return pin->collection().neighbors(pin->at(), scope, document_id, index, before, after);
    }
    Result<std::uint64_t> count(const SnapshotPtr& snapshot,
                                const ReadScope& scope) const override {
        BRAID_TRY(const auto pin, find(snapshot, scope));
        return pin->collection().count(pin->at(), scope);
    }
    Result<std::vector<Suggestion>> suggest(const SnapshotPtr& snapshot, const ReadScope& scope,
                                            std::string_view text,
                                            std::size_t limit) const override {
        BRAID_TRY(const auto pin, find(snapshot, scope));
        return pin->collection().suggest(pin->at(), scope, text, limit);
    }
    Result<std::vector<FacetCount>> facets(const SnapshotPtr& snapshot, const ReadScope& scope,
                                           const std::string& field,
                                           std::size_t limit) const override {
        BRAID_TRY(const auto pin, find(snapshot, scope));
        return pin->collection().facets(pin->at(), scope, field, limit);
    }
    Result<CollectionStats> stats(const SnapshotPtr& snapshot,
                                  const ReadScope& scope) const override {
        BRAID_TRY(const auto pin, find(snapshot, scope));
        return pin->collection().stats(pin->at(), scope);
    }
    Result<std::vector<Chunk>> scan(const SnapshotPtr& snapshot, const ReadScope& scope,
                                    const std::string& after, std::size_t limit,
                                    bool with_vectors) const override {
        BRAID_TRY(const auto pin, find(snapshot, scope));
        return pin->collection().scan(pin->at(), scope, after, limit, with_vectors);
    }

private:
    using PinPtr = std::shared_ptr<const Collection::Pin>;

    Result<> check_writable() const {
        if (!options_.read_only) return {};
        return fail(ErrorCode::ReadOnly, root_->path() + " is open for reading only");
    }
    Result<std::shared_ptr<Collection>> find(const std::string& name) const;
    static Result<PinPtr> find(const SnapshotPtr& snapshot, const ReadScope& scope);
    Result<std::string> open_one(const std::string& name);
    void remove_leftovers(store::Directory& directory, std::vector<std::string>& notes) const;
    store::Durability durability() const {
        return options_.relaxed_ms == 0
                   ? store::Durability::full()
                   : store::Durability::relaxed(std::chrono::milliseconds(options_.relaxed_ms));
    }

    std::unique_ptr<store::DirectoryLock> lock_;  // released last
    std::unique_ptr<store::Directory> root_;
    const LocalOptions options_;
    std::unique_ptr<store::Directory> directory_;  // of the collections; null while there is none

    /// Writers share it; a rewrite that takes its collection's place, and a drop, hold it alone.
    /// Taken before mutex_.
    core::FairSharedMutex switch_mutex_;

    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Collection>> collections_;
    std::map<std::string, Error> damaged_;
    std::set<std::string> unfinished_;  // collections with a rewrite that nobody works on
    std::map<std::string, std::weak_ptr<const RewriteProgress>> rewrites_;
};

/// A rewrite of one collection; see Backend::rewrite.
class LocalRewrite final : public Rewrite {
public:
    LocalRewrite(LocalBackend& backend, std::shared_ptr<Collection> source,
                 std::shared_ptr<Collection> next, std::shared_ptr<RewriteProgress> progress)
        : backend_(backend),
          source_(std::move(source)),
          next_(std::move(next)),
          progress_(std::move(progress)) {}

    Result<Batch> pending(std::size_t limit) override {
        if (queue_.empty()) refill();
        Batch batch;
        while (!queue_.empty() && batch.chunks.empty()) {
            batch.namespace_ = queue_.back().first;
            std::vector<std::string> ids;
            while (!queue_.empty() && ids.size() < limit &&
                   queue_.back().first == batch.namespace_) {
                ids.push_back(std::move(queue_.back().second));
                queue_.pop_back();
            }
            const auto pin = source_->pin();
            const ReadScope scope{source_->name(), batch.namespace_, {}, std::nullopt};
            BRAID_TRY(auto chunks, source_->fetch(pin->at(), scope, ids, true));
            for (auto& chunk : chunks) {
                if (chunk) batch.chunks.push_back(*std::move(chunk));
            }
        }
        return batch;
    }

    Result<> put(Batch batch) override {
        BRAID_CHECK(next_->put_copies(batch.namespace_, std::move(batch.chunks)));
        progress_->done = progress_->total - queue_.size();
        return {};
    }

    Result<bool> finish() override { return backend_.switch_over(source_, next_); }

    std::uint64_t done() const override { return progress_->done; }
    std::uint64_t total() const override { return progress_->total; }

private:
    void refill() {
        Collection::Difference difference = source_->difference(*next_);
        queue_ = std::move(difference.to_copy);
        progress_->total = difference.chunks;
        progress_->done = difference.chunks - queue_.size();
    }

    LocalBackend& backend_;
    std::shared_ptr<Collection> source_;
    std::shared_ptr<Collection> next_;
    std::shared_ptr<RewriteProgress> progress_;
    std::vector<std::pair<std::string, std::string>> queue_;
};

Result<std::unique_ptr<Rewrite>> LocalBackend::rewrite(const std::string& collection,
                                                       const Schema& schema) {
    BRAID_CHECK(check_writable());
    BRAID_TRY(const auto source, find(collection));
    const std::scoped_lock lock(mutex_);
    if (!rewrites_[collection].expired()) {
        return fail(ErrorCode::Conflict,
                    "collection \"" + collection + "\" is being rewritten already");
    }
    const auto open_next = [&]() -> Result<std::shared_ptr<Collection>> {
        BRAID_TRY(auto directory, directory_->open_subdirectory(collection));
        BRAID_TRY(auto opened, Collection::open(collection, std::move(directory), durability(),
                                                false, kNextManifestName));
        return std::move(opened.collection);
    };
    std::shared_ptr<Collection> next;
    if (source->has_next()) {
        // One to another schema, or a damaged one, is begun anew: it is only a copy.
        if (auto found = open_next(); found && (*found)->schema() == schema) next = *found;
    }
    if (!next) {
        BRAID_CHECK(source->create_next(schema));
        BRAID_TRY(next, open_next());
    }
    auto progress = std::make_shared<RewriteProgress>();
    rewrites_[collection] = progress;
    unfinished_.insert(collection);
    return std::make_unique<LocalRewrite>(*this, source, next, std::move(progress));
}

std::optional<std::string> LocalBackend::rewriting(const std::string& collection) const {
    const std::scoped_lock lock(mutex_);
    if (!unfinished_.contains(collection)) return std::nullopt;
    const auto found = rewrites_.find(collection);
    if (found != rewrites_.end()) {
        if (const auto progress = found->second.lock()) {
            return "collection \"" + collection +
                   "\" is being re-embedded: " + std::to_string(progress->done) + " of " +
                   std::to_string(progress->total) +
                   " chunks have their new vectors; this answer rests on the old ones";
        }
    }
    return "re-embedding collection \"" + collection +
           "\" was begun and not finished; this answer rests on the old vectors; run `braid "
           "reembed` to go on";
}

Result<bool> LocalBackend::switch_over(const std::shared_ptr<Collection>& source,
                                       const std::shared_ptr<Collection>& next) {
    const std::unique_lock nobody_writes(switch_mutex_);
    BRAID_TRY(const auto present, find(next->name()));
    if (present != source) {
        return fail(ErrorCode::Conflict,
                    "collection \"" + next->name() + "\" was dropped while it was being rewritten");
    }
    Collection::Difference difference = source->difference(*next);
    if (!difference.to_copy.empty()) return false;
    for (auto& [namespace_, id] : difference.to_remove) {
        const ReadScope scope{next->name(), namespace_, {}, std::nullopt};
        BRAID_CHECK(next->remove(scope, {.chunk_ids = {id}, .document_ids = {}, .filter = {}}, {}));
    }
    BRAID_CHECK(source->replace_by(*next));
    const std::scoped_lock lock(mutex_);
    unfinished_.erase(next->name());
    collections_.insert_or_assign(next->name(), next);
    return true;
}

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
    auto directory = options_.read_only ? root_->open_subdirectory(kCollectionsName)
                                        : root_->subdirectory(kCollectionsName);
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
    const std::unique_lock nobody_writes(switch_mutex_);
    const std::scoped_lock lock(mutex_);
    const auto found = collections_.find(name);
    if (found == collections_.end() && !damaged_.contains(name)) return no_collection(name);
    if (found != collections_.end()) {
        (void)found->second->close();  // its data is about to go anyway
    }
    BRAID_CHECK(directory_->remove_subdirectory(name));
    if (found != collections_.end()) collections_.erase(found);
    damaged_.erase(name);
    unfinished_.erase(name);
    rewrites_.erase(name);
    return {};
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
        return fail(ErrorCode::InvalidArgument, "the snapshot is not one of this backend");
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
    const SnapshotPtr& snapshot, const Leg& leg, std::span<const std::string> chunk_ids) const {
    Leg whole = leg;
    whole.depth = static_cast<std::size_t>(-1);
    BRAID_TRY(const LegResult result, search_leg(snapshot, whole, {}));
    std::unordered_map<std::string_view, std::uint64_t> ranks;
    for (const LegHit& hit : result.hits) ranks.emplace(hit.chunk_id, ranks.size() + 1);
    std::vector<std::optional<std::uint64_t>> answer;
    for (const std::string& id : chunk_ids) {
        const auto found = ranks.find(id);
        answer.push_back(found == ranks.end() ? std::nullopt : std::optional(found->second));
    }
    return answer;
}

}  // namespace

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
