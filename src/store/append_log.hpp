#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "braid/result.hpp"
#include "braid/store/directory.hpp"

namespace braid::store {

class LogCommitter;

/// When an append returns.
struct Durability {
    /// Zero: once the record is on disk. Otherwise: once it is handed to the system, which puts it
    /// on disk within this time. A crash of the process then loses nothing; a power cut or a crash
    /// of the machine loses up to this much of what was acknowledged, always the newest records. At
    /// most an hour.
    std::chrono::milliseconds max_delay{0};

    static constexpr Durability full() noexcept { return {}; }
    static constexpr Durability relaxed(std::chrono::milliseconds max_delay) noexcept {
        return {max_delay};
    }
    constexpr bool is_full() const noexcept { return max_delay.count() <= 0; }
};

/// A place between two records of a log.
struct LogPosition {
    std::uint64_t sequence = 0;  // of the record that follows
    std::uint64_t offset = 0;    // where it begins

    friend bool operator==(const LogPosition&, const LogPosition&) = default;
};

struct AppendLogOptions {
    Durability durability = Durability::full();
    /// At most 4 GiB - 1, the largest length the format can express.
    std::uint64_t max_record_bytes = std::uint64_t{1} << 30;
    /// Sequence number of the first record; used when the log is created, else ignored.
    std::uint64_t first_sequence = 1;
    /// Replay only: nothing is created, cut or synced, and every append fails.
    bool read_only = false;
    /// NotFound for a log that must exist (always so when read_only), Corruption for one that
    /// exists without the header that its creation put on disk.
    bool must_exist = false;
    /// Where the replay begins: what comes before is kept elsewhere and is not looked at. Obtained
    /// from AppendLog::position. Corruption if the log ends before it, or has another record there.
    std::optional<LogPosition> start = std::nullopt;
    /// Corruption for a log without the mark that its creation put beside it: its end may be
    /// missing too.
    bool must_be_marked = false;
    /// What keeps other writers away, if anything does: checked before every write.
    std::shared_ptr<const DirectoryLock> lock = nullptr;
    /// Told the id of an existing log before its records are replayed.
    std::function<void(std::uint64_t log_id)> on_id = nullptr;
};

/// What opening a log found.
struct LogReport {
    std::uint64_t records = 0;  // replayed
    std::uint64_t next_sequence = 1;
    /// Unacknowledged bytes at the end, left by a crash and cut off (if read_only, only ignored).
    std::uint64_t cut_bytes = 0;
    std::uint64_t cut_offset = 0;
    /// The file beside the log that keeps them. Empty if read_only, or if there was no space for
    /// it: then they are saved and cut off before the first record is written.
    std::string kept;
    /// True if there was no log, or one whose creation a crash had interrupted.
    bool created = false;
    /// True if a mark beside it gave its length: a missing end would have been noticed.
    bool marked = false;
};

/// A file of records that only grows (format: docs/formats/log.md). A record whose append succeeded
/// is replayed by every later open, complete and in order, whatever crash came in between; what a
/// crash leaves unacknowledged at the end of the file is cut off, kept in a file of its own, and
/// reported. Damage to an acknowledged record, or a missing end, is Corruption: a mark beside the
/// log knows how much of it was on disk (durable_mark.hpp), and later records bear witness.
///
/// Safe for concurrent use: concurrent appends share one write and one sync (group commit, led by
/// one of the callers). Opening does not lock; keep a second writer out with Directory::lock. A log
/// that another writer changed nevertheless, or whose lock is lost, takes no more records.
class AppendLog {
public:
    /// Called for each record in order; the payload is borrowed for the call. An error stops the
    /// replay and is returned by open.
    using ReplayFn = std::function<Result<>(std::uint64_t sequence, std::span<const std::byte>)>;
    using OnDurable = std::function<void(std::uint64_t sequence)>;

    struct Opened {
        std::unique_ptr<AppendLog> log;
        LogReport report;
    };

    /// Opens or creates the log `name` and replays it, which reads the whole file into memory.
    /// Corruption if acknowledged records are damaged: nothing is cut off then. Unsupported if a
    /// newer version wrote it.
    static Result<Opened> open(Directory& directory, std::string_view name,
                               const AppendLogOptions& options, const ReplayFn& replay);

    AppendLog(const AppendLog&) = delete;
    AppendLog& operator=(const AppendLog&) = delete;
    AppendLog(AppendLog&&) = delete;
    AppendLog& operator=(AppendLog&&) = delete;
    /// Closes; to see an error of that, call close() first.
    ~AppendLog();

    /// Appends one record and returns its sequence number once it is durable (see Durability).
    /// Sequence numbers increase by one per record, in file order.
    ///
    /// InvalidArgument if the payload is too long; nothing is written then. StorageFull if there is
    /// no space: whatever was written has been cut off again, and the log takes records again as
    /// soon as there is space. Any other error means that the record may or may not be in the log
    /// when it is next opened, and that this log takes no more records: later appends fail with
    /// ReadOnly and the first error as the reason. A failed sync is never retried, because the
    /// system may have dropped what it could not write and would then report success.
    Result<std::uint64_t> append(std::span<const std::byte> payload);

    /// The same, and calls `on_durable` before it returns: one call at a time, in sequence order,
    /// perhaps on the thread of another append (with relaxed durability, once written). This lets a
    /// database apply records to its memory in log order. It must not call the log. If it throws,
    /// the record stays in the log, the append fails, and the log takes no more records.
    Result<std::uint64_t> append(std::span<const std::byte> payload, const OnDurable& on_durable);

    /// Puts everything acknowledged on disk; only Durability::relaxed leaves anything to do.
    Result<> flush();

    /// flush(), then every later append fails with ReadOnly. Calling it again does nothing.
    Result<> close();

    /// Distinguishes its records from those of other logs.
    std::uint64_t id() const noexcept;
    /// The sequence number the next record will get.
    std::uint64_t next_sequence() const;
    /// Bytes in the file, including its header.
    std::uint64_t size_bytes() const;
    /// Both at the same moment: after all records appended so far.
    LogPosition position() const;
    /// The first error of a write, a sync or an `on_durable`: no record has been accepted since.
    std::optional<Error> failure() const;
    /// Why the last append found no space; none if it did, or if try_space() has since.
    std::optional<Error> no_space() const;
    /// If an append found no space, finds out whether there is space again.
    Result<> try_space();

private:
    explicit AppendLog(std::unique_ptr<LogCommitter> committer) noexcept;

    std::unique_ptr<LogCommitter> committer_;
};

}  // namespace braid::store
