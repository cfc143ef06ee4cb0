#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "braid/result.hpp"
#include "braid/store/append_log.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/durable_mark.hpp"

namespace braid::store {

/// The writing half of an AppendLog: group commit, and the sync timer of relaxed durability.
///
/// Callers queue up. The first that finds nobody leading becomes the leader: it takes the whole
/// queue, writes it, syncs once, and then wakes the others, one of which leads the records that
/// arrived meanwhile.
class LogCommitter {
public:
    using OnDurable = std::function<void(std::uint64_t sequence)>;

    /// Work on the file that must be done before the first record is written.
    class Preparation {
    public:
        virtual ~Preparation() = default;
        virtual Result<> prepare(AppendFile& file) = 0;
    };

    struct Start {
        std::unique_ptr<AppendFile> file;  // null: a read-only log
        std::string path;                  // for messages
        std::uint64_t log_id;
        std::uint64_t next_sequence;
        std::uint64_t size;                                   // of the file, all of it durable
        std::uint64_t max_record_bytes;                       // <= kMaxRecordBytes
        std::chrono::milliseconds max_delay;                  // of a sync; 0: none
        std::shared_ptr<const DirectoryLock> lock = nullptr;  // may be null
        std::unique_ptr<Preparation> preparation = nullptr;   // null: there is none
        std::unique_ptr<DurableMark> mark = nullptr;          // null: a read-only log
    };

    explicit LogCommitter(Start start);
    LogCommitter(const LogCommitter&) = delete;
    LogCommitter& operator=(const LogCommitter&) = delete;
    LogCommitter(LogCommitter&&) = delete;
    LogCommitter& operator=(LogCommitter&&) = delete;
    ~LogCommitter();

    Result<std::uint64_t> append(std::span<const std::byte> payload, const OnDurable* on_durable);
    Result<> flush();
    Result<> close();
    Result<> try_space();

    std::uint64_t log_id() const noexcept { return log_id_; }
    std::uint64_t next_sequence() const;
    std::uint64_t size_bytes() const;
    LogPosition position() const;
    std::optional<Error> failure() const;
    std::optional<Error> no_space() const;

private:
    using Clock = std::chrono::steady_clock;

    enum class Outcome { Waiting, Durable, Failed, Refused, NoSpace };
    struct Waiter {
        std::span<const std::byte> payload;
        std::uint64_t payload_checksum;
        const OnDurable* on_durable;
        std::uint64_t sequence = 0;
        bool applied = false;
        std::optional<Error> no_space;  // none of it is in the log
        Outcome outcome = Outcome::Waiting;
    };

    void lead(std::unique_lock<std::mutex>& queue_lock);
    void commit(std::span<Waiter* const> batch) noexcept;
    Result<> make_sure_of_file();
    Result<> write(std::span<Waiter* const> batch);
    Result<> write_buffer();
    Result<> sync_if_due();
    Result<> sync();
    Result<> apply(Waiter& waiter, std::uint64_t sequence);
    Result<> take_back(std::uint64_t size);
    void fail_for_ever(Error error) noexcept;
    Result<> refusal() const;
    void run_timer(const std::stop_token& stop);

    const std::string path_;
    const std::uint64_t log_id_;
    const std::uint64_t max_record_bytes_;
    const std::chrono::milliseconds max_delay_;
    const bool read_only_;

    // Taken before queue_mutex_, never while holding it.
    std::mutex commit_mutex_;
    std::unique_ptr<AppendFile> file_;
    std::shared_ptr<const DirectoryLock> lock_;
    std::unique_ptr<Preparation> preparation_;
    std::unique_ptr<DurableMark> mark_;
    std::uint64_t durable_bytes_;
    std::uint64_t written_sequence_;  // of the record that follows what is written
    std::vector<std::byte> buffer_;

    mutable std::mutex queue_mutex_;
    std::condition_variable queue_changed_;
    std::condition_variable_any timer_wakes_;
    std::vector<Waiter*> queue_;
    bool leading_ = false;
    bool closed_ = false;
    std::optional<Error> failure_;
    std::optional<Error> no_space_;  // of the last commit
    std::size_t no_space_for_ = 0;   // bytes that it wanted to write
    std::optional<Clock::time_point> unsynced_since_;
    std::uint64_t next_sequence_;
    std::uint64_t size_;

    std::jthread timer_;  // last: it uses all of the above
};

}  // namespace braid::store
