#include "braid/store/log_committer.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "braid/core/waiting.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/log_format.hpp"

namespace braid::store {
namespace {

// Records are gathered in a buffer up to this size; a payload longer than a quarter of it is
// written directly from the caller's memory.
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kCopiedPayloadBytes = kBufferBytes / 4;
// At most this much is tried, to see whether there is space again.
constexpr std::size_t kMaxTriedBytes = std::size_t{1} << 20;

std::string text_of(const std::exception& problem) noexcept {
    try {
        return problem.what();
    } catch (...) {
        return "out of memory";
    }
}

}  // namespace

LogCommitter::LogCommitter(Start start)
    : path_(std::move(start.path)),
      log_id_(start.log_id),
      max_record_bytes_(start.max_record_bytes),
      max_delay_(start.max_delay),
      read_only_(start.file == nullptr),
      file_(std::move(start.file)),
      lock_(std::move(start.lock)),
      preparation_(std::move(start.preparation)),
      mark_(std::move(start.mark)),
      durable_bytes_(start.size),
      written_sequence_(start.next_sequence),
      next_sequence_(start.next_sequence),
      size_(start.size) {
    if (!read_only_ && max_delay_.count() > 0) {
        timer_ = std::jthread([this](const std::stop_token& stop) { run_timer(stop); });
    }
}

LogCommitter::~LogCommitter() {
    (void)close();
}

Result<std::uint64_t> LogCommitter::append(std::span<const std::byte> payload,
                                           const OnDurable* on_durable) {
    if (payload.size() > max_record_bytes_) {
        return invalid_argument("a record of " + std::to_string(payload.size()) +
                                " bytes is too long for log " + path_ + ", which takes " +
                                std::to_string(max_record_bytes_));
    }
    Waiter waiter{payload, checksum(payload), on_durable};
    std::unique_lock lock(queue_mutex_);
    BRAID_CHECK(refusal());
    queue_.push_back(&waiter);
    if (leading_) {
        const core::Waiting waiting;
        queue_changed_.wait(lock, [&] { return waiter.outcome != Outcome::Waiting || !leading_; });
    }
    if (waiter.outcome == Outcome::Waiting) lead(lock);

    if (waiter.outcome == Outcome::Durable) return waiter.sequence;
    if (waiter.outcome == Outcome::Refused) BRAID_CHECK(refusal());
    if (waiter.no_space) return fail("cannot append to log " + path_, *std::move(waiter.no_space));
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): set before any waiter fails
    return fail("cannot append to log " + path_, *failure_);
}

/// Commits everything queued, including the caller's own record.
void LogCommitter::lead(std::unique_lock<std::mutex>& queue_lock) {
    std::vector<Waiter*> batch;
    batch.swap(queue_);
    if (failure_) {
        for (Waiter* waiter : batch) waiter->outcome = Outcome::Refused;
    } else {
        leading_ = true;
        queue_lock.unlock();
        {
            const std::scoped_lock commit_lock(commit_mutex_);
            commit(batch);
        }
        queue_lock.lock();
        leading_ = false;
        for (Waiter* waiter : batch) {
            waiter->outcome = waiter->applied    ? Outcome::Durable
                              : waiter->no_space ? Outcome::NoSpace
                                                 : Outcome::Failed;
        }
    }
    queue_changed_.notify_all();
}

/// Afterwards either every waiter is `applied` or none is: for want of space, or because the log
/// has failed.
void LogCommitter::commit(std::span<Waiter* const> batch) noexcept {
    try {
        Result<> done = make_sure_of_file();
        const std::uint64_t before = file_->size();
        if (done) done = write(batch);
        if (!done && done.error().code == ErrorCode::StorageFull) {
            const Error cause = done.error();
            // Nothing was written yet if not even the file could be prepared.
            done = preparation_ != nullptr ? Result<>() : take_back(before);
            if (done) {
                for (Waiter* waiter : batch) waiter->no_space = cause;
                const std::scoped_lock lock(queue_mutex_);
                no_space_ = cause;
                no_space_for_ = 0;
                for (const Waiter* waiter : batch) no_space_for_ += waiter->payload.size();
                return;
            }
        }
        if (done) done = sync_if_due();
        std::uint64_t sequence = 0;
        if (done) {
            const std::scoped_lock lock(queue_mutex_);
            sequence = next_sequence_;
            next_sequence_ += batch.size();
            size_ = file_->size();
            no_space_.reset();
        }
        for (Waiter* waiter : batch) {
            if (done) done = apply(*waiter, sequence++);
        }
        if (!done) fail_for_ever(std::move(done).error());
    } catch (const std::exception& problem) {
        fail_for_ever({ErrorCode::ResourceExhausted, text_of(problem)});
    }
}

/// Checks that nobody else writes to it or has put another in its place: what is written then is
/// lost.
Result<> LogCommitter::make_sure_of_file() {
    if (lock_ != nullptr) BRAID_CHECK(lock_->verify());
    if (preparation_ != nullptr) {
        BRAID_CHECK(preparation_->prepare(*file_));
        preparation_.reset();
    }
    return file_->verify();
}

Result<> LogCommitter::write(std::span<Waiter* const> batch) {
    std::uint64_t sequence = written_sequence_;
    std::uint64_t offset = file_->size();
    buffer_.clear();
    for (const Waiter* waiter : batch) {
        const auto length = static_cast<std::uint32_t>(waiter->payload.size());
        encode_record_header(
            buffer_, {log_id_, length, sequence++, durable_bytes_, waiter->payload_checksum},
            offset);
        offset += kRecordHeaderBytes + length;
        if (length <= kCopiedPayloadBytes) {
            buffer_.insert(buffer_.end(), waiter->payload.begin(), waiter->payload.end());
            if (buffer_.size() >= kBufferBytes) BRAID_CHECK(write_buffer());
        } else {
            BRAID_CHECK(write_buffer());
            BRAID_CHECK(file_->append(waiter->payload));
        }
    }
    BRAID_CHECK(write_buffer());
    written_sequence_ = sequence;
    return {};
}

Result<> LogCommitter::write_buffer() {
    if (buffer_.empty()) return {};
    BRAID_CHECK(file_->append(buffer_));
    buffer_.clear();
    return {};
}

/// Cuts off, durably, what a write that ran out of space left at the end. Nothing acknowledged is
/// touched, so the log can continue.
Result<> LogCommitter::take_back(std::uint64_t size) {
    const core::Waiting waiting;
    BRAID_CHECK(file_->truncate(size));
    durable_bytes_ = size;
    mark_->record(durable_bytes_, written_sequence_);
    const std::scoped_lock lock(queue_mutex_);
    unsynced_since_.reset();
    return {};
}

Result<> LogCommitter::sync_if_due() {
    if (max_delay_.count() > 0) {
        const std::scoped_lock lock(queue_mutex_);
        const Clock::time_point now = Clock::now();
        if (!unsynced_since_) {
            unsynced_since_ = now;
            timer_wakes_.notify_all();
        }
        if (now - *unsynced_since_ < max_delay_) return {};
    }
    return sync();
}

Result<> LogCommitter::sync() {
    // Until the preparation is done, nothing has been written here.
    if (file_ == nullptr || preparation_ != nullptr || file_->size() == durable_bytes_) return {};
    {
        const core::Waiting waiting;
        BRAID_CHECK(file_->sync());
    }
    durable_bytes_ = file_->size();
    mark_->record(durable_bytes_, written_sequence_);
    const std::scoped_lock lock(queue_mutex_);
    unsynced_since_.reset();
    return {};
}

Result<> LogCommitter::apply(Waiter& waiter, std::uint64_t sequence) {
    try {
        if (waiter.on_durable != nullptr) (*waiter.on_durable)(sequence);
    } catch (const std::exception& problem) {
        return fail(ErrorCode::IoError,
                    "record " + std::to_string(sequence) +
                        " is in the log, but applying it failed: " + problem.what());
    } catch (...) {
        return fail(ErrorCode::IoError, "record " + std::to_string(sequence) +
                                            " is in the log, but applying it failed");
    }
    waiter.sequence = sequence;
    waiter.applied = true;
    return {};
}

void LogCommitter::fail_for_ever(Error error) noexcept {
    const std::scoped_lock lock(queue_mutex_);
    if (!failure_) failure_ = std::move(error);
}

/// Why no record is accepted, if that is so. Requires queue_mutex_.
Result<> LogCommitter::refusal() const {
    if (read_only_) return fail(ErrorCode::ReadOnly, "log " + path_ + " was opened read-only");
    if (failure_) {
        return fail(ErrorCode::ReadOnly,
                    "log " + path_ + " has refused records since an error: " + failure_->message);
    }
    if (closed_) return fail(ErrorCode::ReadOnly, "log " + path_ + " is closed");
    return {};
}

Result<> LogCommitter::flush() {
    const std::scoped_lock commit_lock(commit_mutex_);
    {
        const std::scoped_lock lock(queue_mutex_);
        if (failure_) return refusal();
    }
    Result<> synced = sync();
    if (!synced) fail_for_ever(synced.error());
    return synced;
}

Result<> LogCommitter::close() {
    {
        std::unique_lock lock(queue_mutex_);
        if (std::exchange(closed_, true)) return {};
        queue_changed_.wait(lock, [&] { return queue_.empty() && !leading_; });
    }
    timer_.request_stop();
    Result<> flushed = flush();
    const std::scoped_lock commit_lock(commit_mutex_);
    if (mark_ != nullptr) {
        // Records again what, for instance, a full disk kept it from recording.
        const bool has_records = durable_bytes_ > kLogHeaderBytes;
        if (flushed && has_records) mark_->record(durable_bytes_, written_sequence_);
        mark_->sync();
    }
    file_.reset();
    mark_.reset();
    return flushed;
}

/// Writes as much as found no space before, and cuts it off again.
Result<> LogCommitter::try_space() {
    const std::scoped_lock commit_lock(commit_mutex_);
    std::size_t bytes = kRecordHeaderBytes;
    {
        const std::scoped_lock lock(queue_mutex_);
        BRAID_CHECK(refusal());
        if (!no_space_) return {};
        bytes += std::min(no_space_for_, kMaxTriedBytes);
    }
    if (file_ == nullptr) return {};  // closed meanwhile
    Result<> tried = make_sure_of_file();
    if (tried) {
        const std::uint64_t before = file_->size();
        tried = file_->append(std::vector<std::byte>(bytes));
        if (tried || tried.error().code == ErrorCode::StorageFull) {
            if (Result<> cut = take_back(before); !cut) tried = std::move(cut);
        }
    }
    const bool full = !tried && tried.error().code == ErrorCode::StorageFull;
    if (!tried && !full) fail_for_ever(tried.error());
    const std::scoped_lock lock(queue_mutex_);
    if (!full) no_space_.reset();
    return tried;
}

std::uint64_t LogCommitter::next_sequence() const {
    const std::scoped_lock lock(queue_mutex_);
    return next_sequence_;
}

std::uint64_t LogCommitter::size_bytes() const {
    const std::scoped_lock lock(queue_mutex_);
    return size_;
}

LogPosition LogCommitter::position() const {
    const std::scoped_lock lock(queue_mutex_);
    return {next_sequence_, size_};
}

std::optional<Error> LogCommitter::failure() const {
    const std::scoped_lock lock(queue_mutex_);
    return failure_;
}

std::optional<Error> LogCommitter::no_space() const {
    const std::scoped_lock lock(queue_mutex_);
    return no_space_;
}

void LogCommitter::run_timer(const std::stop_token& stop) {
    std::unique_lock lock(queue_mutex_);
    const auto is_due = [&] {
        return unsynced_since_ && Clock::now() >= *unsynced_since_ + max_delay_;
    };
    while (!failure_ &&
           timer_wakes_.wait(lock, stop, [&] { return unsynced_since_.has_value(); })) {
        const Clock::time_point since = unsynced_since_.value_or(Clock::now());
        timer_wakes_.wait_until(lock, stop, since + max_delay_, [&] { return !unsynced_since_; });
        if (stop.stop_requested()) return;
        if (!is_due()) continue;
        lock.unlock();
        (void)flush();  // an error stays in failure_, where the next append finds it
        lock.lock();
    }
}

}  // namespace braid::store
