#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "braid/backend.hpp"
#include "braid/core/fair_shared_mutex.hpp"
#include "braid/core/unknown_collection.hpp"
#include "braid/local/collection.hpp"
#include "braid/local/compaction_queue.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/result.hpp"
#include "braid/store/directory.hpp"

namespace braid::local {

// Names in a database's directory.
inline constexpr std::string_view kCollectionsName = "collections";
/// What becomes `kCollectionsName` when a copy is complete.
inline constexpr std::string_view kUnfinishedName = "collections-unfinished";

/// Why a collection that was begun and not finished cannot be read.
inline constexpr const char* kUnfilled =
    "its import is under way or was interrupted; drop it, or import it again";

inline tl::unexpected<Error> no_collection(const std::string& name) {
    return fail(ErrorCode::NotFound, core::unknown_collection(name));
}

class LocalRewrite;

/// How far a rewrite is.
struct RewriteProgress {
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> total{0};
    bool compacts = false;  // answers do not change by it
};

/// See open_local_backend.
class LocalBackend final : public Backend {
public:
    LocalBackend(std::unique_ptr<store::Directory> root,
                 std::shared_ptr<const store::DirectoryLock> lock, LocalOptions options)
        : lock_(std::move(lock)),
          root_(std::move(root)),
          options_(std::move(options)),
          compactions_due_([this](const std::string& name,
                                  const std::stop_token& stop) { compact_by_itself(name, stop); },
                           options_.compaction.background),
          flushes_due_([this](const std::string& name,
                              const std::stop_token& stop) { flush_by_itself(name, stop); },
                       options_.compaction.background),
          merges_due_([this](const std::string& name,
                             const std::stop_token& stop) { merge_by_itself(name, stop); },
                      options_.compaction.background),
          derivations_due_([this](const std::string& name,
                                  const std::stop_token& stop) { derive_by_itself(name, stop); },
                           options_.compaction.background) {}

    ~LocalBackend() override {
        compactions_due_.stop();
        flushes_due_.stop();
        merges_due_.stop();
        derivations_due_.stop();
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
                .whole_ranking = true,
                .query_language = true,
                .bm25_choice = true,
                .snapshots = true,
                .read_your_writes = true,
                .atomic_batches = true,
                .expiry = true,
                .skips_unchanged = true};
    }

    Result<> create_collection(const std::string& name, const Schema& schema) override;
    Result<> drop_collection(const std::string& name) override;
    Result<> begin_collection(const std::string& name, const Schema& schema) override;
    Result<> set_ranker(const std::string& collection, const std::string& model) override;
    Result<> set_probes(const std::string& collection, const std::string& namespace_,
                        const LegProbes& probes) override;
    Result<> finish_collection(const std::string& name) override;
    Result<std::vector<CollectionInfo>> collections(const Principal& principal) const override;
    Result<CollectionInfo> describe(const std::string& name,
                                    const Principal& principal) const override;

    Result<WriteReport> upsert(const std::string& collection, const std::string& namespace_,
                               std::vector<Chunk> chunks, const WriteOptions& options) override {
        return write(collection, [&](Collection& found) {
            return found.upsert(namespace_, std::move(chunks), options);
        });
    }
    Result<WriteReport> update(const std::string& collection, const std::string& namespace_,
                               std::vector<MetadataUpdate> updates,
                               const WriteOptions& options) override {
        return write(collection, [&](Collection& found) {
            return found.update(namespace_, std::move(updates), options);
        });
    }
    Result<WriteReport> remove(const ReadScope& scope, const DeleteSelector& selector,
                               const WriteOptions& options) override {
        // A filter takes its time: it runs before a writer, or a rewrite that waits for writers,
        // could have to wait for it.
        std::shared_ptr<Collection> looked_at;
        std::optional<FilterSelection> selection;
        if (selector.filter && !Collection::drops_namespace(scope, selector, options)) {
            BRAID_TRY(looked_at, find(scope.collection));
            BRAID_TRY(selection, looked_at->select(scope, *selector.filter, options.limits));
        }
        return write(scope.collection, [&](Collection& found) {
            if (&found != looked_at.get()) selection.reset();  // another took its place
            return found.remove(scope, selector, options, std::move(selection));
        });
    }

    Result<std::unique_ptr<Rewrite>> rewrite(const std::string& collection,
                                             const Schema& schema) override;
    Result<std::unique_ptr<Rewrite>> compaction(const std::string& collection) override;
    std::optional<std::string> rewriting(const std::string& collection,
                                         const Principal& principal) const override;
    /// Puts `next` in the place of the collection of its name, if nothing is pending.
    /// Up to `may_copy` chunks that are, are copied first, while writers wait.
    Result<bool> switch_over(const std::shared_ptr<Collection>& source,
                             const std::shared_ptr<Collection>& next, std::size_t may_copy = 0);
    /// Removes what a rewrite has written that will not be finished.
    void give_up(const Collection& source, Collection& next) const;
    /// Makes one segment of all that a collection has, without flushing: for tests.
    Result<bool> merge_now(const std::string& collection) {
        BRAID_TRY(const auto found, find(collection));
        return found->merge({}, true);
    }
    /// Compacts, flushes, merges and derives what waits for it, on this thread.
    void run_due_compactions() {
        compactions_due_.run_here();
        flushes_due_.run_here();
        merges_due_.run_here();
        derivations_due_.run_here();
    }

    Result<ReaderPtr> snapshot(std::span<const std::string> collections,
                               const CallLimits& limits) const override;

    BackendHealth health() const override;
    Result<CheckReport> check(const CallLimits& limits) const override;
    Result<CheckReport> backup(const std::filesystem::path& path,
                               const CallLimits& limits) const override;
    /// See backup; into a directory of any kind, which is left behind if that fails.
    Result<CheckReport> copy_to(store::Directory& destination, const CallLimits& limits) const;

private:
    struct Source {
        std::shared_ptr<const Collection> collection;
        Collection::Extent extent;
    };

    Result<> check_writable() const {
        if (!options_.read_only) return verify_lock();
        return fail(ErrorCode::ReadOnly, root_->path() + " is open for reading only");
    }
    /// ReadOnly if another may have taken it. Tells so, once.
    Result<> verify_lock() const;
    template <class Change>
    Result<WriteReport> write(const std::string& collection, const Change& change) {
        const std::shared_lock writing(switch_mutex_);
        BRAID_TRY(const auto found, find(collection));
        if (auto writable = check_writable(); !writable) {
            if (!options_.read_only) ++failed_writes_;
            return tl::unexpected(std::move(writable).error());
        }
        Result<WriteReport> report = change(*found);
        note_write(*found, report);
        return report;
    }
    /// Counts and tells what the storage refused, and that it takes writes again.
    void note_write(const Collection& collection, const Result<WriteReport>& report);
    void note_trouble(const Collection& collection) const;
    /// Whether most of its log is void.
    bool wants_compaction(const Collection& collection) const;
    void compact_by_itself(const std::string& name, const std::stop_token& stop);
    Result<> compact_now(const Collection& source, const std::stop_token& stop);
    /// A compaction of a collection without segments, by a copy of its log.
    Result<std::unique_ptr<LocalRewrite>> log_compaction(const std::string& collection);
    /// Requires mutex_.
    Result<std::shared_ptr<RewriteProgress>> begin_compaction(const std::string& collection);
    // Segments: flushing and merging, each on a thread of its own.
    void flush_by_itself(const std::string& name, const std::stop_token& stop);
    void merge_by_itself(const std::string& name, const std::stop_token& stop);
    // Graphs and calibrations (local_derived.cpp), on a thread of their own.
    void derive_by_itself(const std::string& name, const std::stop_token& stop);
    void note_failed_job(const std::string& what, const std::string& name, const Error& error);
    Collection::OpenSettings open_settings() const;
    void tell(LogEvent::Level level, std::string_view event, const std::string& message) const {
        if (options_.log) options_.log({level, event, message});
    }
    Result<> create(const std::string& name, const Schema& schema, Collection::Created as);
    Result<> try_create(const std::string& name, const Schema& schema, Collection::Created as);
    /// Opens it, if it is closed. Holding it keeps it open.
    Result<std::shared_ptr<Collection>> find(const std::string& name) const;

    // Opening and closing (local_open.cpp)
    /// By the clock, and never before a time it gave earlier: what has expired does not come back,
    /// neither in a collection that was closed and opened again meanwhile. Tells of a clock that
    /// was set back.
    Timestamp now() const;
    Result<Collection::Opened> open_files(const std::string& name) const;
    Result<std::shared_ptr<Collection>> open_closed(const std::string& name) const;
    /// Closes those that nobody uses, the longest unused first, until so many are open.
    void close_idle(std::size_t keep) const;
    /// Puts what was opened in its place. Requires mutex_.
    void take_in(const std::string& name, const Collection::Opened& opened) const;
    /// Waits until nobody opens or closes it. Requires mutex_, gives it up meanwhile.
    void settle(std::unique_lock<std::mutex>& lock, const std::string& name) const {
        settled_.wait(lock, [&] { return !busy_.contains(name); });
    }
    /// Of all collections but the damaged ones. Requires mutex_.
    std::set<std::string> names() const;
    /// All of them, open. None is closed as long as the result lives.
    std::vector<std::shared_ptr<Collection>> open_all() const;
    void open_at_start(const std::string& name, std::vector<std::string>& notes);
    void remove_leftovers(store::Directory& directory, std::vector<std::string>& notes) const;
    /// `collections`: what stands beside the collections.
    void note_unknown_names(const std::vector<store::DirectoryEntry>& collections,
                            CheckReport& report) const;
    /// All collections that may be read, at one point in time; the others are noted. Requires
    /// files_mutex_, as long as they are used.
    Result<std::vector<Source>> capture(CheckReport& report) const;
    static Result<CheckReport> copy_into(store::Directory& destination,
                                         const std::vector<Source>& sources, CheckReport report,
                                         const CallLimits& limits);
    std::shared_ptr<const store::DirectoryLock> lock_;  // released last
    std::unique_ptr<store::Directory> root_;
    const LocalOptions options_;
    mutable std::atomic<std::int64_t> last_now_ = index::kNothingExpired.micros;
    mutable std::atomic<bool> clock_is_back_ = false;  // and it was told
    std::unique_ptr<store::Directory> directory_;  // of the collections; null while there is none

    /// Shared by those who read the files of collections; what removes files holds it alone. Taken
    /// before the others.
    mutable core::FairSharedMutex files_mutex_;

    /// Writers share it; a rewrite that takes its collection's place, and a drop, hold it alone.
    /// Taken before mutex_.
    mutable core::FairSharedMutex switch_mutex_;

    mutable std::mutex mutex_;
    /// Those that are open. Who holds one beside this map keeps it from being closed.
    mutable std::map<std::string, std::shared_ptr<Collection>> collections_;
    struct Closed {
        std::optional<CollectionInfo> info;  // as everybody's; none if it was never open
    };
    mutable std::map<std::string, Closed> closed_;
    mutable std::map<std::string, std::uint64_t> used_;  // by name: when, in uses
    mutable std::uint64_t uses_ = 0;
    mutable std::set<std::string> busy_;  // somebody opens or closes them
    mutable std::condition_variable settled_;
    mutable std::map<std::string, Error> damaged_;
    /// The copy of a collection that a rewrite of that manifest's name makes.
    Result<std::shared_ptr<Collection>> open_next(const std::string& collection,
                                                  std::string_view manifest_name) const;
    /// Conflict if one is under way. Requires mutex_.
    Result<> require_no_rewrite(const std::string& collection) const;

    mutable std::set<std::string> unfinished_;  // collections with a rewrite that nobody works on
    mutable std::set<std::string> abandoned_;   // unfilled, and by nobody who is still at work
    mutable std::set<std::string> refusing_;  // those of which it was told that they take no writes
    mutable std::atomic<bool> told_of_lost_lock_{false};
    std::atomic<std::uint64_t> failed_writes_{0};
    std::atomic<std::uint64_t> compacted_{0};
    std::atomic<std::uint64_t> failed_compactions_{0};
    /// Size of the log when compacting it failed: it must have grown before the next attempt.
    std::map<std::string, std::uint64_t> failed_at_bytes_;

    std::map<std::string, std::weak_ptr<const RewriteProgress>> rewrites_;
    const segment::Caches caches_ = segment::Caches::make();  // of all collections together

    // Last: their threads use all of the above.
    mutable CompactionQueue compactions_due_;
    mutable CompactionQueue flushes_due_;
    mutable CompactionQueue merges_due_;
    mutable CompactionQueue derivations_due_;
};

}  // namespace braid::local
