#include "braid/store/append_log.hpp"

#include <algorithm>
#include <exception>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "braid/store/durable_mark.hpp"
#include "braid/store/log_committer.hpp"
#include "braid/store/log_format.hpp"
#include "braid/store/log_search.hpp"

namespace braid::store {
namespace {

constexpr std::chrono::milliseconds kMaxDelay = std::chrono::hours(1);

Result<> check_options(const AppendLogOptions& options) {
    if (options.durability.max_delay > kMaxDelay || options.durability.max_delay.count() < 0) {
        return invalid_argument(
            "with relaxed durability a log is synced after 0 ms to 1 h, not after " +
            std::to_string(options.durability.max_delay.count()) + " ms");
    }
    if (options.max_record_bytes > kMaxRecordBytes) {
        return invalid_argument("max_record_bytes of a log is at most " +
                                std::to_string(kMaxRecordBytes));
    }
    return {};
}

Result<> require_present(const Directory& directory, std::string_view name) {
    BRAID_TRY(const auto entries, directory.list());
    const bool present = std::any_of(
        entries.begin(), entries.end(),
        [&](const DirectoryEntry& entry) { return entry.name == name && !entry.is_directory; });
    if (present) return {};
    return fail(ErrorCode::NotFound,
                "log " + directory.path() + "/" + std::string(name) + " does not exist");
}

/// Different for every log, so that records of one do not pass for those of another.
Result<std::uint64_t> random_log_id() {
    try {
        std::random_device device;
        return (static_cast<std::uint64_t>(device()) << 32) | device();
    } catch (const std::exception& problem) {
        return fail(ErrorCode::Unavailable,
                    std::string("cannot get random numbers for a new log: ") + problem.what());
    }
}

Result<> write_new(AppendFile& file, const LogHeader& header) {
    BRAID_CHECK(file.truncate(0));
    BRAID_CHECK(file.append(encode_log_header(header)));
    // Before the first record is written: a header may be missing only from a log that never had
    // records.
    return file.sync();
}

/// Corruption if the data at `offset`, where the replay stopped, was once on disk.
Result<> require_never_durable(std::span<const std::byte> file, const std::string& path,
                               std::uint64_t log_id, std::uint64_t durable, std::uint64_t offset,
                               const std::string& problem) {
    std::string proof;
    if (durable > offset) {
        proof = "the log was on disk up to offset " + std::to_string(durable);
    } else if (const auto witness = find_witness(file, log_id, offset)) {
        proof = "record " + std::to_string(witness->header.sequence) + " at offset " +
                std::to_string(witness->offset) +
                " follows, which was written after that place was on disk";
    } else {
        return {};
    }
    return fail(ErrorCode::Corruption, "log " + path + " is damaged at offset " +
                                           std::to_string(offset) + ": " + problem + ", but " +
                                           proof);
}

/// Passes all records to `replay`. If they stop before the end of the file, decides whether that is
/// damage or the unsynced end left by a crash, and reports the latter as cut.
Result<LogReport> replay_records(std::span<const std::byte> file, const std::string& path,
                                 const LogHeader& header, std::uint64_t durable,
                                 const LogPosition& start, const AppendLog::ReplayFn& replay) {
    LogReport report;
    report.next_sequence = start.sequence;
    std::uint64_t offset = start.offset;
    while (true) {
        const RecordAt found = read_record(file, header.log_id, offset);
        if (!found.record) {
            const std::string problem =
                found.problem.empty() ? "its end is missing" : found.problem;
            BRAID_CHECK(require_never_durable(file, path, header.log_id, durable, offset, problem));
            if (found.problem.empty()) return report;
            report.cut_offset = offset;
            report.cut_bytes = file.size() - offset;
            return report;
        }
        const std::uint64_t sequence = found.record->header.sequence;
        if (sequence != report.next_sequence) {
            return fail(ErrorCode::Corruption,
                        "log " + path + " is damaged at offset " + std::to_string(offset) +
                            ": record " + std::to_string(sequence) + " is where record " +
                            std::to_string(report.next_sequence) + " should be");
        }
        if (replay) {
            auto replayed = replay(sequence, found.record->payload);
            if (!replayed) {
                return fail("cannot replay record " + std::to_string(sequence) + " of log " + path,
                            std::move(replayed).error());
            }
        }
        ++report.records;
        ++report.next_sequence;
        offset = found.next;
    }
}

/// Where the replay begins. Every position handed out was on disk, so a log that cannot contain it
/// has lost something.
Result<LogPosition> start_of(const AppendLogOptions& options, const LogHeader& header,
                             std::uint64_t size, const std::string& path) {
    const LogPosition first{header.first_sequence, kLogHeaderBytes};
    const LogPosition start = options.start.value_or(first);
    const bool possible =
        start.offset >= first.offset && start.offset <= size && start.sequence >= first.sequence &&
        // Every record before it takes at least a header.
        start.sequence - first.sequence <= (start.offset - first.offset) / kRecordHeaderBytes;
    if (possible) return start;
    return fail(ErrorCode::Corruption,
                "log " + path + " is damaged: it has " + std::to_string(size) +
                    " bytes, and record " + std::to_string(start.sequence) +
                    " should begin at offset " + std::to_string(start.offset));
}

/// Puts bytes that a log is about to lose into a new file beside it, and returns its name. No name
/// is ever used twice: it contains the time.
Result<std::string> keep_beside(Directory& directory, std::string_view log,
                                std::span<const std::byte> bytes) {
    constexpr int attempts = 100;
    auto time = std::chrono::duration_cast<std::chrono::microseconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count();
    for (int attempt = 0;; ++attempt, ++time) {
        std::string name = "cut-" + std::string(log) + "-" + std::to_string(time);
        const auto kept = directory.create(name, bytes);
        if (kept) return name;
        if (kept.error().code == ErrorCode::AlreadyExists && attempt < attempts) continue;
        return fail("cannot keep " + std::to_string(bytes.size()) +
                        " bytes that would be cut from log " + directory.path() + "/" +
                        std::string(log),
                    kept.error());
    }
}

/// What follows the last record that counts is kept elsewhere and cut off.
class UnfinishedEnd final : public LogCommitter::Preparation {
public:
    UnfinishedEnd(std::unique_ptr<Directory> directory, std::string_view log,
                  std::span<const std::byte> bytes)
        : directory_(std::move(directory)), log_(log), bytes_(bytes.begin(), bytes.end()) {}

    Result<> prepare(AppendFile& file) override {
        if (kept_.empty()) {
            BRAID_TRY(kept_, keep_beside(*directory_, log_, bytes_));
        }
        return file.truncate(file.size() - bytes_.size());
    }

    const std::string& kept() const noexcept { return kept_; }

private:
    std::unique_ptr<Directory> directory_;
    std::string log_;
    std::vector<std::byte> bytes_;
    std::string kept_;
};

/// Cuts the end off at once, or leaves that to the committer if the disk is full.
Result<std::unique_ptr<LogCommitter::Preparation>> cut_end(const Directory& directory,
                                                           std::string_view log,
                                                           std::span<const std::byte> end,
                                                           AppendFile& file, LogReport& report) {
    auto cut = std::make_unique<UnfinishedEnd>(directory.again(), log, end);
    const auto done = cut->prepare(file);
    report.kept = cut->kept();
    if (done) return nullptr;
    if (done.error().code != ErrorCode::StorageFull) return tl::unexpected(done.error());
    return cut;
}

}  // namespace

Result<AppendLog::Opened> AppendLog::open(Directory& directory, std::string_view name,
                                          const AppendLogOptions& options, const ReplayFn& replay) {
    BRAID_CHECK(check_options(options));
    if (options.must_exist && !options.read_only) BRAID_CHECK(require_present(directory, name));
    const std::string path = directory.path() + "/" + std::string(name);

    // Read before the log, which is then at least as long as this says.
    const auto mark = read_durable_mark(directory, name);
    // Before taking the view, because this makes the view show what is on disk rather than in a
    // cache.
    std::unique_ptr<AppendFile> file;
    if (!options.read_only) {
        BRAID_TRY(file, directory.open_append(name));
    }
    BRAID_TRY(const auto view, directory.open(name));
    BRAID_TRY(auto header, decode_log_header(view->bytes(), path));
    if (header && options.on_id) options.on_id(header->log_id);

    LogReport report;
    std::unique_ptr<LogCommitter::Preparation> preparation;
    std::uint64_t size = view->bytes().size();
    if (header) {
        const bool ours = mark && mark->log_id == header->log_id;
        if (options.must_be_marked && !mark) return missing_mark(path);
        BRAID_TRY(const LogPosition start, start_of(options, *header, size, path));
        BRAID_TRY(report, replay_records(view->bytes(), path, *header, ours ? mark->bytes : 0,
                                         start, replay));
        report.marked = ours;
        size -= report.cut_bytes;
        if (file != nullptr && report.cut_bytes > 0) {
            const auto end = view->bytes().last(static_cast<std::size_t>(report.cut_bytes));
            BRAID_TRY(preparation, cut_end(directory, name, end, *file, report));
        } else if (file != nullptr) {
            BRAID_CHECK(file->sync());
        }
    } else if (options.must_exist || options.start) {
        return fail(ErrorCode::Corruption, "log " + path + " has lost its header: " +
                                               std::to_string(size) + " bytes are left");
    } else {
        BRAID_TRY(const std::uint64_t log_id, random_log_id());
        header = LogHeader{log_id, options.first_sequence};
        report.next_sequence = options.first_sequence;
        report.created = true;
        report.cut_bytes = size;
        if (file != nullptr) BRAID_CHECK(write_new(*file, *header));
        size = file != nullptr ? file->size() : 0;
    }

    LogCommitter::Start start{.file = std::move(file),
                              .path = path,
                              .log_id = header->log_id,
                              .next_sequence = report.next_sequence,
                              .size = size,
                              .max_record_bytes = options.max_record_bytes,
                              .max_delay = options.durability.max_delay,
                              .lock = options.lock,
                              .preparation = std::move(preparation)};
    if (start.file != nullptr) {
        start.mark = std::make_unique<DurableMark>(directory.again(), name, header->log_id, mark);
        if (report.records > 0) start.mark->record(size, report.next_sequence);
    }
    std::unique_ptr<LogCommitter> committer;
    try {
        committer = std::make_unique<LogCommitter>(std::move(start));
    } catch (const std::system_error& problem) {
        return fail(ErrorCode::ResourceExhausted,
                    "cannot start the sync timer of log " + path + ": " + problem.what());
    }
    return Opened{std::unique_ptr<AppendLog>(new AppendLog(std::move(committer))), report};
}

AppendLog::AppendLog(std::unique_ptr<LogCommitter> committer) noexcept
    : committer_(std::move(committer)) {}

AppendLog::~AppendLog() = default;

Result<std::uint64_t> AppendLog::append(std::span<const std::byte> payload) {
    return committer_->append(payload, nullptr);
}

Result<std::uint64_t> AppendLog::append(std::span<const std::byte> payload,
                                        const OnDurable& on_durable) {
    return committer_->append(payload, on_durable ? &on_durable : nullptr);
}

Result<> AppendLog::flush() {
    return committer_->flush();
}

Result<> AppendLog::close() {
    return committer_->close();
}

std::uint64_t AppendLog::id() const noexcept {
    return committer_->log_id();
}

std::uint64_t AppendLog::next_sequence() const {
    return committer_->next_sequence();
}

std::uint64_t AppendLog::size_bytes() const {
    return committer_->size_bytes();
}

LogPosition AppendLog::position() const {
    return committer_->position();
}

std::optional<Error> AppendLog::failure() const {
    return committer_->failure();
}

std::optional<Error> AppendLog::no_space() const {
    return committer_->no_space();
}

Result<> AppendLog::try_space() {
    return committer_->try_space();
}

}  // namespace braid::store
