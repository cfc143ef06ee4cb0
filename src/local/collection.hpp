#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "braid/backend.hpp"
#include "braid/core/clock.hpp"
#include "braid/core/fair_shared_mutex.hpp"
#include "braid/index/index.hpp"
#include "braid/local/engine.hpp"
#include "braid/local/filter_selection.hpp"
#include "braid/local/manifest.hpp"
#include "braid/local/probes_file.hpp"
#include "braid/local/ranker_file.hpp"
#include "braid/local/versions.hpp"
#include "braid/store/append_log.hpp"
#include "braid/store/directory.hpp"
#include "braid/text/analyzer.hpp"

namespace braid::core {
class Findings;
}

namespace braid::local {

class LogReading;

using index::PointInTime;

/// One collection: a log on disk, and an index of what replaying it gives.
///
/// A write is validated, logged, and applied in log order once it is durable. Reads name a sequence
/// number that a Pin keeps alive. Safe for concurrent use.
class Collection : public std::enable_shared_from_this<Collection> {
public:
    /// Keeps what one point in time shows, for as long as it lives.
    class Pin {
    public:
        Pin(std::shared_ptr<const Collection> collection, const PointInTime& at);
        Pin(const Pin&) = delete;
        Pin& operator=(const Pin&) = delete;
        Pin(Pin&&) = delete;
        Pin& operator=(Pin&&) = delete;
        ~Pin();

        const Collection& collection() const noexcept { return *collection_; }
        const PointInTime& at() const noexcept { return at_; }
        /// The learned ranking as it was when first asked for.
        Result<std::shared_ptr<const rank::Model>> ranker() const;

    private:
        std::shared_ptr<const Collection> collection_;
        PointInTime at_;
        mutable std::once_flag ranker_read_;
        mutable Result<std::shared_ptr<const rank::Model>> ranker_{nullptr};
    };

    /// A pin that ends when what it keeps takes much space: OpenSettings::lapsing_bytes.
    class LapsingPin {
    public:
        explicit LapsingPin(std::shared_ptr<const Pin> pin) : pin_(std::move(pin)) {}
        /// Null: it has ended.
        std::shared_ptr<const Pin> pin() const {
            const std::scoped_lock lock(mutex_);
            return pin_;
        }
        void end() {
            std::shared_ptr<const Pin> gone;  // let go of without the lock
            const std::scoped_lock lock(mutex_);
            gone.swap(pin_);
        }

    private:
        mutable std::mutex mutex_;
        std::shared_ptr<const Pin> pin_;
    };
    static std::shared_ptr<const LapsingPin> lapsing(const std::shared_ptr<const Pin>& pin);

    struct Opened {
        std::shared_ptr<Collection> collection;
        std::vector<std::string> notes;  // what had to be cut
    };

    /// Filled: it may be read at once. Unfilled: only after finish().
    enum class Created { Filled, Unfilled };
    static Result<> create(store::Directory& directory, const Schema& schema,
                           Created as = Created::Filled);
    struct OpenSettings {
        store::Durability durability = store::Durability::full();
        bool read_only = false;
        EngineOptions engine = {};
        std::function<Timestamp()> clock = core::system_now;
        bool flushes_in_background = false;  // somebody calls flush() when flush_due()
        std::uint64_t flush_on_close_rows = 256;
        /// What lapsing pins may keep of files and memory that nothing else needs.
        std::uint64_t lapsing_bytes = std::uint64_t{64} << 20;
        std::shared_ptr<const store::DirectoryLock> lock = nullptr;
        /// Told by searches that derive() ought to be called; never after the collection is closed.
        std::function<void(const std::string& name)> derivation_due = nullptr;
    };
    /// Takes over the directory, which must hold a manifest of that name.
    static Result<Opened> open(std::string name, std::unique_ptr<store::Directory> directory,
                               const OpenSettings& settings,
                               std::string_view manifest_name = kManifestName);

    /// Begins a copy beside what is there: a manifest of that name and a log.
    Result<> create_next(const Schema& schema, std::string_view manifest_name) const;
    /// Whether a copy of the name `kNextManifestName` was begun and not finished.
    bool has_next() const;
    /// Puts copies of chunks, with their versions, into a collection opened as the next one.
    Result<> put_copies(const std::string& namespace_, std::vector<Chunk> chunks);
    /// Removes what a rewrite that is given up has written, unless it has taken this one's place.
    void discard(Collection& next) const;
    /// Makes the next one's manifest the collection's, and removes this one's log. The caller keeps
    /// writers away from both, and lets go of this one.
    Result<> replace_by(Collection& next);
    /// Chunks of all namespaces whose versions differ between this and `next`: ids to copy, and ids
    /// that only `next` has.
    struct Difference {
        std::vector<std::pair<std::string, std::string>> to_copy;  // namespace, chunk id
        std::vector<std::pair<std::string, std::string>> to_remove;
        std::uint64_t chunks = 0;  // here
    };
    Result<Difference> difference(const Collection& next) const;

    /// Puts a new log of these chunks in the place of a damaged one, in the folder `name` of
    /// `parent`. Nobody may have the collection open.
    static Result<> rebuild(const store::Directory& parent, const std::string& name,
                            const Manifest& manifest, const LogReading& saved);

    /// What was acknowledged at one point in time, in memory and on disk.
    struct Extent {
        std::shared_ptr<const Pin> pin;
        std::uint64_t log_bytes = 0;
        Versions versions{0, 0};
        Manifest manifest;
        std::shared_ptr<const void> files;  // none of those that the manifest names goes meanwhile
    };
    Extent extent() const;
    /// Checks `files`, the collection's own or a copy of them, and the indexes in memory against
    /// them; what is wrong goes into the report.
    Result<> check(const Extent& extent, const store::Directory& files, CheckReport& report,
                   const CallLimits& limits) const;
    /// Copies the files durably; without the last step there is no collection.
    Result<> copy_files(const Extent& extent, store::Directory& copy) const;
    const store::Directory& files() const noexcept { return *directory_; }

    const std::string& name() const noexcept { return name_; }
    /// With the dimension that the vectors turned out to have, whoever may see them: not to be
    /// shown.
    Schema schema() const;
    const text::Analyzer& analyzer() const noexcept { return analyzer_; }
    std::shared_ptr<const Pin> pin() const;
    /// The learned ranking; null if there is none. Read from its file when first asked for.
    Result<std::shared_ptr<const rank::Model>> ranker() const;
    /// Puts it in the place of the one there is; an empty text removes that.
    Result<> set_ranker(const std::string& model);
    /// Keeps what was found out about a namespace; of many namespaces, not of all.
    Result<> set_probes(const std::string& namespace_, const LegProbes& probes);
    /// No more writes; what was acknowledged is on disk, in a file of its own if it is much.
    Result<> close();
    /// The same for what is about to be removed, or replaced.
    Result<> close_for_good();

    /// Created as unfilled, and not finished: not to be read.
    bool unfinished() const noexcept { return unfinished_; }
    /// Whether time alone may change what it shows.
    bool may_expire() const noexcept {
        return format_ >= kExpiringFormat && (segments_ == nullptr || segments_->expires());
    }
    Result<> finish();
    /// Why it takes no writes at present.
    std::optional<Error> refusal() const;
    /// Finds out whether there is space again, if there was none.
    void try_space() const { (void)log()->try_space(); }
    std::uint64_t log_bytes() const { return log()->size_bytes(); }
    /// What a compacted log would have, about.
    std::uint64_t live_bytes() const noexcept { return index_->live_bytes(); }

    // Segments (collection_segments.cpp). All do nothing for an engine without files.

    bool has_segments_engine() const noexcept { return segments_ != nullptr; }
    /// Whether compacting is a matter of segments: of few chunks that are all in the log, it is the
    /// log that is written anew.
    bool compacts_segments() const;
    /// Whether memory holds so much that it should be written to a file.
    bool flush_due() const;
    /// Writes what is in memory to a file, while others read and write. `least`: not for fewer
    /// rows.
    Result<> flush(const std::stop_token& stop, std::uint64_t least = 1);
    /// Waits while a flush is behind: what is not flushed is bounded.
    void wait_for_room() const;
    bool merge_due() const;
    /// Makes one segment of several that should be one; of all of them, if told so, and without
    /// dead rows. False if there was nothing to do.
    Result<bool> merge(const std::stop_token& stop, bool everything = false);
    // Derived structures (collection_derived.cpp): they speed up the search of vectors.

    /// Whether a graph or a calibration should be made.
    bool derivation_due() const;
    /// Makes what is due, while others read and write. Cancelled if told to stop, or the collection
    /// is closed. False if there was nothing to do.
    Result<bool> derive(const std::stop_token& stop);
    /// Since the last flush, if there was one.
    std::chrono::steady_clock::duration since_flush() const noexcept {
        return std::chrono::steady_clock::now().time_since_epoch() -
               std::chrono::steady_clock::duration(last_flush_);
    }
    /// Bytes of the files: logs, segments and graphs.
    std::uint64_t bytes_on_disk() const;
    /// The same by what they are for, largest first.
    Result<std::vector<StoredPart>> stored_parts() const;
    /// None for an engine without files.
    std::optional<IndexState> index_state() const;

    Result<WriteReport> upsert(const std::string& namespace_, std::vector<Chunk> chunks,
                               const WriteOptions& options);
    Result<WriteReport> update(const std::string& namespace_, std::vector<MetadataUpdate> updates,
                               const WriteOptions& options);
    /// What a filter selects for a delete, found while others write. The limits must outlive it,
    /// and so must this.
    Result<FilterSelection> select(const ReadScope& scope, const Filter& filter,
                                   const CallLimits& limits) const;
    /// `selection`: of the selector's filter, if that has been at work already.
    Result<WriteReport> remove(const ReadScope& scope, const DeleteSelector& selector,
                               const WriteOptions& options,
                               std::optional<FilterSelection> selection = std::nullopt);

    /// Whether all chunks of the namespace are to go, whichever there are: one record says so.
    static bool drops_namespace(const ReadScope& scope, const DeleteSelector& selector,
                                const WriteOptions& options);

    // Reads at a pinned point in time; the contract is Backend's.
    Result<LegResult> search(const PointInTime& at, const Leg& leg, const CallLimits& limits) const;
    Result<TextStatistics> text_statistics(const PointInTime& at, const Leg& leg,
                                           const CallLimits& limits) const;
    Result<std::vector<std::optional<double>>> score(const PointInTime& at, const Leg& leg,
                                                     std::span<const std::string> ids,
                                                     const CallLimits& limits) const;
    Result<std::vector<std::optional<std::uint64_t>>> rank_of(const PointInTime& at, const Leg& leg,
                                                              std::span<const std::string> ids,
                                                              const CallLimits& limits) const;
    Result<std::vector<std::optional<Chunk>>> fetch(const PointInTime& at, const ReadScope& scope,
                                                    std::span<const std::string> ids,
                                                    bool with_vectors,
                                                    const CallLimits& limits) const;
    Result<std::vector<Chunk>> neighbors(const PointInTime& at, const ReadScope& scope,
                                         const std::string& document_id, std::int64_t index,
                                         std::size_t before, std::size_t after,
                                         const CallLimits& limits) const;
    Result<std::uint64_t> count(const PointInTime& at, const ReadScope& scope,
                                const CallLimits& limits) const;
    Result<std::vector<Suggestion>> suggest(const PointInTime& at, const ReadScope& scope,
                                            std::string_view text, std::size_t limit,
                                            const CallLimits& limits) const;
    Result<std::vector<FacetCount>> facets(const PointInTime& at, const ReadScope& scope,
                                           const std::string& field, std::size_t limit,
                                           const CallLimits& limits) const;
    Result<CollectionStats> stats(const PointInTime& at, const ReadScope& scope,
                                  const CallLimits& limits) const;
    Result<std::vector<Chunk>> scan(const PointInTime& at, const ReadScope& scope,
                                    const std::string& after, std::size_t limit, bool with_vectors,
                                    const CallLimits& limits) const;
    Result<CollectionInfo> info(const PointInTime& at, const Principal& principal) const;

private:
    /// A name that no log has.
    static Result<std::string> next_log(const store::Directory& directory,
                                        const std::string& present);
    static Result<> create_files(store::Directory& directory, const Schema& schema,
                                 std::string_view manifest_name, const std::string& log);
    static Result<> create_log(store::Directory& directory, const std::string& log,
                               Sequence first_sequence);
    Collection(std::string name, std::unique_ptr<store::Directory> directory, Manifest manifest,
               text::Analyzer analyzer, OpenSettings settings, std::string_view manifest_name);
    Result<> open_index();
    Result<> replay_logs(std::vector<std::string>& notes);
    Result<store::AppendLog::Opened> replay_log(const std::string& name, bool takes_records);

    using ViewPtr = std::unique_ptr<index::View>;
    /// Of the record that was applied last.
    Sequence applied() const;
    /// By the clock, and never before a time it gave earlier.
    Timestamp now() const;
    /// No read that is under way, or will be, asks for what has expired by then.
    Timestamp expired_for_all() const;
    /// What the principal sees of a namespace at present.
    Result<ViewPtr> present(const std::string& namespace_, const Principal& principal) const;

    // Writing (collection_write.cpp)
    /// Checks the chunk's vector, and rounds it to what the collection stores.
    Result<> accept_vector(Chunk& chunk, std::size_t dimension, const Principal& principal) const;
    /// One entry for each chunk, made on all cores that are free.
    std::vector<index::PreparedText> count_words(const std::vector<Chunk>& chunks) const;
    index::PreparedChunk prepare(Chunk chunk) const;
    /// A chunk that the scope's principal may not see has version 0.
    Result<> check_versions(const ReadScope& scope, std::span<const std::string> ids,
                            const WriteOptions& options) const;
    /// Conflict if one of the ids is that of a chunk which the principal may not see. Requires the
    /// write gate, alone.
    Result<> check_taken(const std::string& namespace_, std::span<const std::string> ids,
                         const Principal& principal) const;
    /// Conflict if a chunk id of the batch is that of a document that the batch does not hold.
    Result<> check_owners(const std::string& namespace_, const std::vector<Chunk>& batch) const;
    /// Deletes all that is in a namespace, by one record, whatever its size.
    Result<WriteReport> drop_namespace(const std::string& namespace_);
    /// Ids of the chunks of the batch's documents that are not in the batch, and that the principal
    /// may see. Requires the write gate, alone.
    Result<std::vector<std::string>> left_out(const std::string& namespace_,
                                              const std::vector<Chunk>& batch,
                                              const Principal& principal) const;
    /// Takes those out of a batch that are there as they are; returns how many. Requires the write
    /// gate, alone, and that the principal may see all of them that are there.
    Result<std::uint64_t> drop_unchanged(const std::string& namespace_,
                                         std::vector<Chunk>& batch) const;
    /// Has the manifest say that the log may hold what older versions do not know.
    Result<> raise_format(std::uint32_t format);
    /// The same for chunks, or updates, of which some may expire.
    template <class Items>
    Result<> raise_format_for(const Items& items) {
        for (const auto& item : items) {
            if (item.expires_at) return raise_format(kExpiringFormat);
        }
        return {};
    }
    Result<> replay(Sequence sequence, std::span<const std::byte> payload);
    /// A record's place in the log, and the version of what it changes.
    struct Stamp {
        Sequence sequence = 0;
        Version version = 0;
    };
    Result<WriteReport> commit(std::span<const std::byte> payload,
                               const std::function<Result<WriteReport>(Stamp)>& apply);
    /// With version 0 a chunk gets the record's.
    Result<WriteReport> apply_upsert(const std::string& namespace_,
                                     std::vector<index::PreparedChunk> chunks, Stamp stamp,
                                     Timestamp now);
    Result<WriteReport> apply_updates(const std::string& namespace_,
                                      const std::vector<MetadataUpdate>& updates, Stamp stamp);
    Result<WriteReport> apply_remove(const std::string& namespace_,
                                     const std::vector<std::string>& ids, Stamp stamp);
    /// The whole record is applied. Requires state_mutex_, alone.
    void settle(Sequence sequence);
    void remove_old_files();
    void remove_named(const Manifest& manifest) const;
    void give_up_if_replaced();

    // Segments (collection_segments.cpp)
    std::shared_ptr<store::AppendLog> log() const {
        const std::scoped_lock lock(files_mutex_);
        return log_;
    }
    Manifest present_manifest() const;
    Manifest present_manifest_locked() const;             // requires files_mutex_
    Result<> replace_manifest(const Manifest& manifest);  // requires files_mutex_
    /// A new log for the records to come. Requires the write gate, alone.
    Result<> rotate_log();
    /// Has the manifest name what there is, and removes what it no longer names.
    Result<> record_files();
    void forget_old_states();
    /// Lets go of states that no pin shows. Returns the bytes of those that are kept.
    std::uint64_t keep_pinned_states();
    /// Ends the oldest of the pins that may lapse and show an old state. False if there is none.
    bool end_oldest_lapsing();
    void stop_jobs();
    /// Has derive() called, if a search has found that to be due.
    void ask_for_derivation() const;
    Result<bool> build_graphs(const std::stop_token& stop);  // requires derive_mutex_
    /// Whether the manifest names the segment. Requires files_mutex_.
    bool is_recorded(std::uint64_t generation) const;
    std::size_t dimension() const;
    /// What the principal can know of it: it was declared, or a vector is visible. Otherwise 0.
    Result<std::size_t> visible_dimension(const Principal& principal) const;

    // Checking (collection_check.cpp)
    /// Whether the manifest's file says what it should.
    bool manifest_is_in_place() const;
    Result<> check_files(const Extent& extent, const store::Directory& files,
                         core::Findings& findings, const CallLimits& limits) const;
    Result<> check_index(const LogReading& reading, Sequence at, core::Findings& findings,
                         const CallLimits& limits) const;

    // Counting (collection_counts.cpp)
    /// What was counted when it was closed, if nothing has changed since and it is all that the
    /// scope sees.
    std::optional<CollectionStats> kept_counts(const PointInTime& at, const ReadScope& scope) const;
    void keep_counts();
    /// There is much to count, in few namespaces.
    bool counts_are_worth_it() const;

    // Reading (collection_read.cpp)

    /// Runs `read(view)` with what the scope shows, unless it is too late already.
    template <class Read>
    auto with_view(const PointInTime& at, const ReadScope& scope, const CallLimits& limits,
                   const Read& read) const -> decltype(read(std::declval<const index::View&>()));
    /// What a leg asks for, its words analysed.
    Result<index::Query> query_of(const Leg& leg) const;
    /// What a sparse leg looks for.
    Result<> add_words(const Leg& leg, index::Query& query) const;

    const std::string name_;
    const std::unique_ptr<store::Directory> directory_;
    const Manifest manifest_;         // as it was opened: the schema stays
    std::string_view manifest_name_;  // of the file it stands in
    const text::Analyzer analyzer_;
    const OpenSettings settings_;
    const bool read_only_;
    std::atomic<std::uint32_t> format_;  // of the manifest's file
    std::atomic<bool> unfinished_ = false;
    std::atomic<bool> displaced_ = false;  // an error left it open whose manifest is in place

    /// An error left it open whether the manifest written last is in place. Either will do: the
    /// files of both are there.
    std::atomic<bool> doubtful_ = false;

    /// Guards the next ones, and the manifest's file.
    mutable std::mutex files_mutex_;
    std::shared_ptr<store::AppendLog> log_;
    std::string log_name_;
    std::vector<std::string> older_logs_;
    std::uint64_t deletes_ = 0;
    std::vector<SegmentEntry> recorded_;  // what the manifest names
    std::uint64_t flushed_ = 0;           // likewise
    std::uint64_t recorded_generation_ = 1;
    Sequence older_end_ = 0;            // the last record of the older logs
    std::vector<std::string> garbage_;  // files to be removed, once nobody copies them
    mutable std::weak_ptr<const void> copying_;
    struct GraphWork {
        std::uint64_t generation = 0;  // of the segment; 0: none is being built
        std::stop_source stop{std::nostopstate};
    };
    GraphWork graph_work_;
    std::atomic<std::uint64_t> next_generation_ = 1;

    mutable std::mutex flush_mutex_;  // one flush at a time; taken before the gate
    std::mutex merge_mutex_;          // one merge at a time
    std::mutex derive_mutex_;         // one at a time
    mutable std::mutex due_mutex_;    // held while derivation_due is told
    std::stop_source jobs_;
    std::atomic<bool> jobs_ended_ = false;
    mutable std::mutex room_mutex_;
    mutable std::condition_variable room_;
    std::atomic<bool> flush_failed_ = false;
    std::atomic<std::chrono::steady_clock::rep> last_flush_ = 0;

    /// Plain upserts share it, so that they share a sync; a write that depends on what is there
    /// holds it alone from its check to its commit.
    std::mutex probes_mutex_;  // of who changes the file
    mutable std::mutex ranker_mutex_;
    mutable std::optional<Result<std::shared_ptr<const rank::Model>>> ranker_;  // once it was read
    mutable core::FairSharedMutex write_gate_;

    /// Written to in log order, under state_mutex_; read without it.
    std::unique_ptr<index::Index> index_;
    segment::SegmentIndex* segments_ = nullptr;  // the same, if it keeps files

    /// Held for a moment only by those who read: a writer never waits for a search.
    mutable core::FairSharedMutex state_mutex_;
    /// Guarded by state_mutex_, as are the next two.
    Sequence applied_ = 0;
    Versions versions_;
    std::size_t dimension_ = 0;

    mutable std::mutex pins_mutex_;
    mutable std::multiset<Sequence> pins_;
    mutable std::multiset<Timestamp> pinned_times_;
    mutable std::vector<std::weak_ptr<LapsingPin>> lapsing_;  // guarded likewise, oldest first
    mutable std::atomic<std::int64_t> last_now_ = index::kNothingExpired.micros;
};

}  // namespace braid::local
