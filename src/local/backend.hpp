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
#include "braid/local/collection.hpp"
#include "braid/local/compaction_queue.hpp"
#include "braid/local/local_backend.hpp"
#include "braid/result.hpp"
#include "braid/store/directory.hpp"

namespace braid::local {

// Names in a database's directory.
inline constexpr std::string_view kCollectionsName = "collections";
/// Renamed to `kCollectionsName` when a copy is complete.
inline constexpr std::string_view kUnfinishedName = "collections-unfinished";

class LocalRewrite;

/// How far a rewrite has come.
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
        // A filter takes time to evaluate: it runs before anything that a writer, or a rewrite
        // waiting for writers, might have to wait for.
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
    /// Puts `next` in the place of the collection with its name, if nothing is pending. If up to
    /// `may_copy` chunks are, copies them first, while writers wait.
    Result<bool> switch_over(const std::shared_ptr<Collection>& source,
                             const std::shared_ptr<Collection>& next, std::size_t may_copy = 0);
    /// Removes what a rewrite that will not be finished has written.
    void give_up(const Collection& source, Collection& next) const;
    /// Makes one segment of everything a collection has, without flushing: for tests.
    Result<bool> merge_now(const std::string& collection) {
        BRAID_TRY(const auto found, find(collection));
        return found->merge({}, true);
    }
    /// Carries out all waiting compactions, flushes, merges and derivations on this thread.
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
    /// See backup; into any kind of directory, which is left behind if that fails.
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
    /// ReadOnly if another process may have taken the lock. Says so, once.
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
    /// Counts and reports what the storage refused, and that it takes writes again.
    void note_write(const Collection& collection, const Result<WriteReport>& report);
    void note_trouble(const Collection& collection) const;
    /// Whether most of its log is void.
    bool wants_compaction(const Collection& collection) const;
    void compact_by_itself(const std::string& name, const std::stop_token& stop);
    Result<> compact_now(const Collection& source, const std::stop_token& stop);
    /// Compacts a collection without segments, by copying its log.
    Result<std::unique_ptr<LocalRewrite>> log_compaction(const std::string& collection);
    /// Requires mutex_.
    Result<std::shared_ptr<RewriteProgress>> begin_compaction(const std::string& collection);
    // Segments: flushing and merging, each on its own thread.
    void flush_by_itself(const std::string& name, const std::stop_token& stop);
    void merge_by_itself(const std::string& name, const std::stop_token& stop);
    // Graphs and calibrations (local_derived.cpp), on their own thread.
    void derive_by_itself(const std::string& name, const std::stop_token& stop);
    void note_failed_job(const std::string& what, const std::string& name, const Error& error);
    Collection::OpenSettings open_settings() const;
    void tell(LogEvent::Level level, std::string_view event, const std::string& message) const {
        if (options_.log) options_.log({level, event, message});
    }
    Result<> create(const std::string& name, const Schema& schema, Collection::Created as);
    Result<> try_create(const std::string& name, const Schema& schema, Collection::Created as);
    /// Opens it, if it is closed. It stays open while the result is held.
    Result<std::shared_ptr<Collection>> find(const std::string& name) const;

    // Opening and closing (local_open.cpp)
    //
    // The clock, but never earlier than a time returned before: what has expired does not come
    // back, not even in a collection closed and reopened meanwhile. Reports a clock that was set
    // back.
    Timestamp now() const;
    Result<Collection::Opened> open_files(const std::string& name) const;
    /// For who only reads: what another program has changed since is opened anew when it is next
    /// used. Whoever still reads the old state keeps it.
    void look_again(const std::string& name) const;
    /// The same for collections that were not there yet.
    void look_for_new() const;
    Result<std::shared_ptr<Collection>> open_closed(const std::string& name) const;
    /// Closes collections that nobody uses, the least recently used first, until only `keep` are
    /// open.
    void close_idle(std::size_t keep) const;
    /// Puts what was opened in its place. Requires mutex_.
    void take_in(const std::string& name, const Collection::Opened& opened) const;
    /// Waits until nobody is opening or closing it. Requires mutex_, which it releases meanwhile.
    void settle(std::unique_lock<std::mutex>& lock, const std::string& name) const {
        settled_.wait(lock, [&] { return !busy_.contains(name); });
    }
    /// For all collections but the damaged ones. Requires mutex_.
    std::set<std::string> names() const;
    /// All of them, open. None is closed while the result is alive.
    std::vector<std::shared_ptr<Collection>> open_all() const;
    void open_at_start(const std::string& name, std::vector<std::string>& notes);
    void remove_leftovers(store::Directory& directory, std::vector<std::string>& notes) const;
    /// `collections`: what else is in the database's directory.
    void note_unknown_names(const std::vector<store::DirectoryEntry>& collections,
                            CheckReport& report) const;
    /// All collections that may be read, at one point in time; the others are noted. Requires
    /// files_mutex_ for as long as they are used.
    Result<std::vector<Source>> capture(CheckReport& report) const;
    static Result<CheckReport> copy_into(store::Directory& destination,
                                         const std::vector<Source>& sources, CheckReport report,
                                         const CallLimits& limits);
    std::shared_ptr<const store::DirectoryLock> lock_;  // released last
    std::unique_ptr<store::Directory> root_;
    const LocalOptions options_;
    mutable std::atomic<std::int64_t> last_now_ = index::kNothingExpired.micros;
    mutable std::atomic<bool> clock_is_back_ = false;  // and that has been reported
    std::unique_ptr<store::Directory> directory_;  // of the collections; null while it is missing

    /// Shared by those who read the files of collections; held exclusively by whatever removes
    /// files. Taken before the others.
    mutable core::FairSharedMutex files_mutex_;

    /// Shared by writers; held exclusively by a drop, and by a rewrite that takes its collection's
    /// place. Taken before mutex_.
    mutable core::FairSharedMutex switch_mutex_;

    mutable std::mutex mutex_;
    /// The open ones. Whoever else holds one keeps it from being closed.
    mutable std::map<std::string, std::shared_ptr<Collection>> collections_;
    struct Closed {
        std::optional<CollectionInfo> info;  // as everybody sees it; none if it was never open
    };
    mutable std::map<std::string, Closed> closed_;
    mutable std::map<std::string, std::uint64_t> used_;  // by name: the last use, counted in uses
    mutable std::uint64_t uses_ = 0;
    mutable std::set<std::string> busy_;  // being opened or closed
    mutable std::condition_variable settled_;
    mutable std::map<std::string, Error> damaged_;
    /// The copy of a collection made by the rewrite that uses that manifest name.
    Result<std::shared_ptr<Collection>> open_next(const std::string& collection,
                                                  std::string_view manifest_name) const;
    /// Conflict if one is in progress. Requires mutex_.
    Result<> require_no_rewrite(const std::string& collection) const;

    mutable std::set<std::string> unfinished_;  // collections with a rewrite that nobody works on
    mutable std::set<std::string> abandoned_;   // not filled, and whoever was filling them is gone
    mutable std::set<std::string> refusing_;    // those reported as taking no writes
    mutable std::atomic<bool> told_of_lost_lock_{false};
    std::atomic<std::uint64_t> failed_writes_{0};
    std::atomic<std::uint64_t> compacted_{0};
    std::atomic<std::uint64_t> failed_compactions_{0};
    /// Size of the log when compacting it failed: it must grow before the next attempt.
    std::map<std::string, std::uint64_t> failed_at_bytes_;

    std::map<std::string, std::weak_ptr<const RewriteProgress>> rewrites_;
    const segment::Caches caches_ = segment::Caches::make();  // shared by all collections

    // Last: their threads use everything above.
    mutable CompactionQueue compactions_due_;
    mutable CompactionQueue flushes_due_;
    mutable CompactionQueue merges_due_;
    mutable CompactionQueue derivations_due_;
};

}  // namespace braid::local
