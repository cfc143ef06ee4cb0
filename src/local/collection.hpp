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
/// A write is validated, logged and, once durable, applied in log order. Reads name a sequence
/// number that a Pin keeps alive. Safe for concurrent use.
class Collection : public std::enable_shared_from_this<Collection> {
public:
    /// Keeps what one point in time shows for as long as it lives.
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

    /// A pin that ends when what it keeps takes too much space: OpenSettings::lapsing_bytes.
    class LapsingPin {
    public:
        explicit LapsingPin(std::shared_ptr<const Pin> pin) : pin_(std::move(pin)) {}
        /// Null: it has ended.
        std::shared_ptr<const Pin> pin() const {
            const std::scoped_lock lock(mutex_);
            return pin_;
        }
        void end() {
            std::shared_ptr<const Pin> gone;  // released outside the lock
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
        std::vector<std::string> notes;  // what had to be cut off
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
        bool flushes_in_background = false;  // somebody else calls flush() when flush_due()
        std::uint64_t flush_on_close_rows = 256;
        /// How much lapsing pins may keep of files and memory that nothing else needs.
        std::uint64_t lapsing_bytes = std::uint64_t{64} << 20;
        std::shared_ptr<const store::DirectoryLock> lock = nullptr;
        /// Called by searches that find derive() to be due; never after the collection is closed.
        std::function<void(const std::string& name)> derivation_due = nullptr;
    };
    /// Takes over the directory, which must hold a manifest of that name.
    static Result<Opened> open(std::string name, std::unique_ptr<store::Directory> directory,
                               const OpenSettings& settings,
                               std::string_view manifest_name = kManifestName);

    /// Begins a copy beside what is there: a manifest of that name, and a log.
    Result<> create_next(const Schema& schema, std::string_view manifest_name) const;
    /// Whether a copy under the name `kNextManifestName` was begun and not finished.
    bool has_next() const;
    /// Puts copies of chunks, with their versions, into a collection opened as the next one.
    Result<> put_copies(const std::string& namespace_, std::vector<Chunk> chunks);
    /// Removes what an abandoned rewrite has written, unless it has taken this one's place.
    void discard(Collection& next) const;
    /// Makes the next one's manifest the collection's, and removes this one's log. The caller keeps
    /// writers away from both, and then releases this one.
    Result<> replace_by(Collection& next);
    /// Chunks of all namespaces whose versions differ between this and `next`: ids to copy, and ids
    /// that only `next` has.
    struct Difference {
        std::vector<std::pair<std::string, std::string>> to_copy;  // namespace, chunk id
        std::vector<std::pair<std::string, std::string>> to_remove;
        std::uint64_t chunks = 0;  // in this one
    };
    Result<Difference> difference(const Collection& next) const;

    /// Replaces a damaged log by a new log of these chunks, in the folder `name` of `parent`.
    /// Nobody may have the collection open.
    static Result<> rebuild(const store::Directory& parent, const std::string& name,
                            const Manifest& manifest, const LogReading& saved);

    /// What was acknowledged at one point in time, in memory and on disk.
    struct Extent {
        std::shared_ptr<const Pin> pin;
        std::uint64_t log_bytes = 0;
        Versions versions{0, 0};
        Manifest manifest;
        /// While held, no file that the manifest names is removed.
        std::shared_ptr<const void> files;
    };
    Extent extent() const;
    /// Checks `files`, the collection's own or a copy of them, and the indexes in memory against
    /// them. Problems go into the report.
    Result<> check(const Extent& extent, const store::Directory& files, CheckReport& report,
                   const CallLimits& limits) const;
    /// Copies the files durably; without the last step there is no collection.
    Result<> copy_files(const Extent& extent, store::Directory& copy) const;
    const store::Directory& files() const noexcept { return *directory_; }

    const std::string& name() const noexcept { return name_; }
    /// With the dimension that its vectors turned out to have, whoever may see them: not for
    /// showing.
    Schema schema() const;
    const text::Analyzer& analyzer() const noexcept { return analyzer_; }
    std::shared_ptr<const Pin> pin() const;
    /// The learned ranking; null if there is none. Read from its file when first asked for.
    Result<std::shared_ptr<const rank::Model>> ranker() const;
    /// Replaces the present one; an empty text removes it.
    Result<> set_ranker(const std::string& model);
    /// Keeps what was found out about a namespace; with many namespaces, not about all of them.
    Result<> set_probes(const std::string& namespace_, const LegProbes& probes);
    /// No more writes; everything acknowledged is on disk, in a file of its own if there is much of
    /// it.
    Result<> close();
    /// The same for a collection about to be removed or replaced.
    Result<> close_for_good();

    /// Created as unfilled and not finished: not to be read.
    bool unfinished() const noexcept { return unfinished_; }
    /// Whether what it shows may change just by time passing.
    bool may_expire() const noexcept {
        return format_ >= kExpiringFormat && (segments_ == nullptr || segments_->expires());
    }
    Result<> finish();
    /// Why it takes no writes at present.
    std::optional<Error> refusal() const;
    /// If there was no space, finds out whether there is now.
    void try_space() const { (void)log()->try_space(); }
    /// For who only reads: whether another program has flushed, merged or replaced it since it was
    /// opened, or has gone on writing its log for a second or more.
    bool is_behind() const;
    std::uint64_t log_bytes() const { return log()->size_bytes(); }
    /// Roughly the bytes that a compacted log would have.
    std::uint64_t live_bytes() const noexcept { return index_->live_bytes(); }

    // Segments (collection_segments.cpp). None of these does anything for an engine without files.

    bool has_segments_engine() const noexcept { return segments_ != nullptr; }
    /// Whether compacting is a matter of segments: if there are few chunks, all in the log, the log
    /// is rewritten instead.
    bool compacts_segments() const;
    /// Whether memory holds enough to be worth writing to a file.
    bool flush_due() const;
    /// Writes what is in memory to a file, while others read and write. `least`: not for fewer rows
    /// than this.
    Result<> flush(const std::stop_token& stop, std::uint64_t least = 1);
    /// Waits while flushing is behind: this limits how much is unflushed.
    void wait_for_room() const;
    bool merge_due() const;
    /// Merges several segments into one, where that is due; with `everything`, merges every segment
    /// and drops dead rows. False if there was nothing to do.
    Result<bool> merge(const std::stop_token& stop, bool everything = false);
    // Derived structures, which speed up the search of vectors (collection_derived.cpp)

    /// Whether a graph or a calibration should be made.
    bool derivation_due() const;
    /// Makes what is due, while others read and write. Cancelled if told to stop, or if the
    /// collection is closed. False if there was nothing to do.
    Result<bool> derive(const std::stop_token& stop);
    /// Time since the last flush, if there was one.
    std::chrono::steady_clock::duration since_flush() const noexcept {
        return std::chrono::steady_clock::now().time_since_epoch() -
               std::chrono::steady_clock::duration(last_flush_);
    }
    /// Bytes of the files: logs, segments and graphs.
    std::uint64_t bytes_on_disk() const;
    /// The same by purpose, largest first.
    Result<std::vector<StoredPart>> stored_parts() const;
    /// None for an engine without files.
    std::optional<IndexState> index_state() const;

    Result<WriteReport> upsert(const std::string& namespace_, std::vector<Chunk> chunks,
                               const WriteOptions& options);
    Result<WriteReport> update(const std::string& namespace_, std::vector<MetadataUpdate> updates,
                               const WriteOptions& options);
    /// What a filter selects for a delete, found while others write. It and the limits must outlive
    /// the delete.
    Result<FilterSelection> select(const ReadScope& scope, const Filter& filter,
                                   const CallLimits& limits) const;
    /// `selection`: from the selector's filter, if that has run already.
    Result<WriteReport> remove(const ReadScope& scope, const DeleteSelector& selector,
                               const WriteOptions& options,
                               std::optional<FilterSelection> selection = std::nullopt);

    /// Whether all chunks of the namespace are to go, whatever they are: one record says so.
    static bool drops_namespace(const ReadScope& scope, const DeleteSelector& selector,
                                const WriteOptions& options);

    // Reads at a pinned point in time; the contract is Backend's.
    Result<LegResult> search(const PointInTime& at, const Leg& leg, const CallLimits& limits) const;
    Result<TextStatistics> text_statistics(const PointInTime& at, const Leg& leg,
                                           const CallLimits& limits) const;
    Result<std::vector<std::optional<double>>> score(const PointInTime& at, const Leg& leg,
                                                     std::span<const FoundChunk> chunks,
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
    /// The record applied last.
    Sequence applied() const;
    /// The clock, but never earlier than a time returned before.
    Timestamp now() const;
    /// No read, in progress or to come, asks for what has expired by then.
    Timestamp expired_for_all() const;
    /// What the principal sees of a namespace at present.
    Result<ViewPtr> present(const std::string& namespace_, const Principal& principal) const;

    // Writing (collection_write.cpp)
    //
    // Checks the chunk's vector, and rounds it to what the collection stores.
    Result<> accept_vector(Chunk& chunk, std::size_t dimension, const Principal& principal) const;
    /// One entry per chunk, made on all free cores.
    std::vector<index::PreparedText> count_words(const std::vector<Chunk>& chunks) const;
    index::PreparedChunk prepare(Chunk chunk) const;
    /// A chunk that the scope's principal may not see has version 0.
    Result<> check_versions(const ReadScope& scope, std::span<const std::string> ids,
                            const WriteOptions& options) const;
    /// Conflict if one of the ids belongs to a chunk that the principal may not see. Requires the
    /// write gate, held exclusively.
    Result<> check_taken(const std::string& namespace_, std::span<const std::string> ids,
                         const Principal& principal) const;
    /// Conflict if a chunk id of the batch already belongs to a document that is not in the batch.
    Result<> check_owners(const std::string& namespace_, const std::vector<Chunk>& batch) const;
    /// Deletes everything in a namespace with one record, whatever its size.
    Result<WriteReport> drop_namespace(const std::string& namespace_);
    /// Ids of chunks that belong to the batch's documents and that the principal may see, but that
    /// are not in the batch. Requires the write gate, held exclusively.
    Result<std::vector<std::string>> left_out(const std::string& namespace_,
                                              const std::vector<Chunk>& batch,
                                              const Principal& principal) const;
    /// Drops from a batch the chunks that are stored exactly so; returns how many. Requires the
    /// write gate, held exclusively, and that the principal may see all that are stored.
    Result<std::uint64_t> drop_unchanged(const std::string& namespace_,
                                         std::vector<Chunk>& batch) const;
    /// Has the manifest say that the log may hold what older versions do not know.
    Result<> raise_format(std::uint32_t format);
    /// The same for chunks or updates some of which may expire.
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
    /// A chunk with version 0 gets the record's.
    Result<WriteReport> apply_upsert(const std::string& namespace_,
                                     std::vector<index::PreparedChunk> chunks, Stamp stamp,
                                     Timestamp now);
    Result<WriteReport> apply_updates(const std::string& namespace_,
                                      const std::vector<MetadataUpdate>& updates, Stamp stamp);
    Result<WriteReport> apply_remove(const std::string& namespace_,
                                     const std::vector<std::string>& ids, Stamp stamp);
    /// Applies the whole record. Requires state_mutex_, held exclusively.
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
    /// Starts a new log for the records to come. Requires the write gate, held exclusively.
    Result<> rotate_log();
    /// Has the manifest name what there is, and removes what it no longer names.
    Result<> record_files();
    void forget_old_states();
    /// Drops states that no pin shows. Returns the bytes of those that are kept.
    std::uint64_t keep_pinned_states();
    /// Ends the oldest lapsing pin that shows an old state. False if there is none.
    bool end_oldest_lapsing();
    void stop_jobs();
    /// Has derive() called, if a search found that to be due.
    void ask_for_derivation() const;
    Result<bool> build_graphs(const std::stop_token& stop);  // requires derive_mutex_
    /// Whether the manifest names the segment. Requires files_mutex_.
    bool is_recorded(std::uint64_t generation) const;
    std::size_t dimension() const;
    /// What the principal can know of it: the dimension if it was declared or a vector is visible,
    /// otherwise 0.
    Result<std::size_t> visible_dimension(const Principal& principal) const;

    // Checking (collection_check.cpp)
    //
    // Whether the manifest's file says what it should.
    bool manifest_is_in_place() const;
    Result<> check_files(const Extent& extent, const store::Directory& files,
                         core::Findings& findings, const CallLimits& limits) const;
    Result<> check_index(const LogReading& reading, Sequence at, core::Findings& findings,
                         const CallLimits& limits) const;

    // Counting (collection_counts.cpp)
    //
    // What was counted at closing, if nothing has changed since and the scope sees everything.
    std::optional<CollectionStats> kept_counts(const PointInTime& at, const ReadScope& scope) const;
    void keep_counts();
    /// There is much to count, in few namespaces.
    bool counts_are_worth_it() const;

    // Reading (collection_read.cpp)

    /// Runs `read(view)` with what the scope shows, unless it is too late already.
    template <class Read>
    auto with_view(const PointInTime& at, const ReadScope& scope, const CallLimits& limits,
                   const Read& read) const -> decltype(read(std::declval<const index::View&>()));
    /// What a leg asks for, with its words analysed.
    Result<index::Query> query_of(const Leg& leg) const;
    /// What a sparse leg looks for.
    Result<> add_words(const Leg& leg, index::Query& query) const;

    const std::string name_;
    const std::unique_ptr<store::Directory> directory_;
    const Manifest manifest_;         // as it was when opened: the schema stays
    std::string_view manifest_name_;  // of the file that holds it
    const text::Analyzer analyzer_;
    const OpenSettings settings_;
    const bool read_only_;
    std::atomic<std::uint32_t> format_;  // of the manifest's file
    std::atomic<bool> unfinished_ = false;
    /// After an error it is unknown whose manifest is in place: this one's or a rewrite's.
    std::atomic<bool> displaced_ = false;
    const std::chrono::steady_clock::time_point opened_at_ = std::chrono::steady_clock::now();

    /// After an error it is unknown whether the last manifest written is in place. Either will do:
    /// the files of both exist.
    std::atomic<bool> doubtful_ = false;

    /// Guards the following members and the manifest's file.
    mutable std::mutex files_mutex_;
    std::shared_ptr<store::AppendLog> log_;
    std::string log_name_;
    std::vector<std::string> older_logs_;
    std::uint64_t deletes_ = 0;
    std::vector<SegmentEntry> recorded_;  // what the manifest names
    std::uint64_t flushed_ = 0;           // likewise
    std::uint64_t recorded_generation_ = 1;
    Sequence older_end_ = 0;            // the last record of the older logs
    std::vector<std::string> garbage_;  // files to be removed once nobody copies them
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
    mutable std::mutex due_mutex_;    // held while derivation_due is called
    std::stop_source jobs_;
    std::atomic<bool> jobs_ended_ = false;
    mutable std::mutex room_mutex_;
    mutable std::condition_variable room_;
    std::atomic<bool> flush_failed_ = false;
    std::atomic<std::chrono::steady_clock::rep> last_flush_ = 0;

    std::mutex probes_mutex_;  // for whoever changes the file
    mutable std::mutex ranker_mutex_;
    mutable std::optional<Result<std::shared_ptr<const rank::Model>>> ranker_;  // once read
    /// Plain upserts share it, so that they share a sync; a write that depends on what is stored
    /// holds it exclusively, from its check to its commit.
    mutable core::FairSharedMutex write_gate_;

    /// Written in log order, under state_mutex_; read without it.
    std::unique_ptr<index::Index> index_;
    segment::SegmentIndex* segments_ = nullptr;  // the same object, if it keeps files

    /// Readers hold it only briefly: a writer never waits for a search.
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
