#include "braid/store/log_check.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "braid/store/log_format.hpp"
#include "braid/store/log_search.hpp"

namespace braid::store {
namespace {

constexpr std::size_t kMaxListedProblems = 100;

void add(LogCheck& check, LogProblem problem) {
    ++check.problem_count;
    if (check.problems.size() < kMaxListedProblems) check.problems.push_back(std::move(problem));
}

/// Goes through a log from record to record, skipping damage to the next intact record.
class LogWalk {
public:
    LogWalk(std::span<const std::byte> file, std::uint64_t log_id, std::uint64_t first_sequence,
            const std::optional<DurableLength>& durable, LogCheck& check)
        : file_(file),
          log_id_(log_id),
          durable_(durable),
          durable_bytes_(std::max(durable ? durable->bytes : 0, witnessed_bytes(file, log_id))),
          check_(check),
          search_(file, log_id),
          expected_(first_sequence) {}

    /// Begins there instead of after the file's header.
    void start_at(const FoundHeader& first) noexcept {
        offset_ = first.offset;
        moved_ = first.moved;
    }

    Result<> run(const AppendLog::ReplayFn& salvage) {
        while (offset_ < file_.size()) {
            const RecordAt found = read_record(file_, log_id_, offset_, place());
            if (!found.record) {
                skip(found);
                continue;
            }
            const std::uint64_t sequence = found.record->header.sequence;
            if (sequence != expected_) {
                add(check_, {offset_, 0, true,
                             "record " + std::to_string(sequence) + " is where record " +
                                 std::to_string(expected_) + " should be"});
            }
            if (salvage) BRAID_CHECK(salvage(sequence, found.record->payload));
            ++check_.records;
            expected_ = sequence + 1;
            offset_ = found.next;
        }
        add_missing_end();
        return {};
    }

private:
    /// Where the next byte was written: at another offset, if bytes before it were removed or
    /// inserted.
    std::uint64_t place() const noexcept { return offset_ + moved_; }

    /// Past damage, to the next readable record.
    void skip(const RecordAt& found) {
        std::uint64_t from = offset_;  // a record that was moved may be right here
        std::uint64_t sequence = expected_;
        if (found.header) {
            // Not after the payload: bytes may be missing from it. But every payload that is
            // examined costs its length, and a file designed for it would keep us looking forever.
            looked_at_ += found.header->length;
            from = looked_at_ <= 4 * file_.size() ? offset_ + kRecordHeaderBytes : found.next;
            sequence = std::max(sequence, found.header->sequence + 1);
        }
        const auto resume = search_.next(from, sequence);
        const std::uint64_t end = resume ? resume->offset : file_.size();
        LogProblem problem{offset_, end - offset_, durable_bytes_ > place(), found.problem};
        std::uint64_t next = resume ? resume->header.sequence : 0;
        if (!resume && durable_) next = durable_->next_sequence;
        if (next > expected_ && problem.acknowledged) {
            problem.first_lost = expected_;
            problem.lost = next - expected_;
        }
        add(check_, std::move(problem));
        expected_ = std::max(expected_, next);
        offset_ = end;
        if (resume) moved_ = resume->moved;
    }

    void add_missing_end() {
        if (!durable_ || durable_->bytes <= place()) return;
        LogProblem problem{offset_, 0, true,
                           "cut short: " + std::to_string(file_.size()) +
                               " bytes are left of at least " + std::to_string(durable_->bytes)};
        if (durable_->next_sequence > expected_) {
            problem.first_lost = expected_;
            problem.lost = durable_->next_sequence - expected_;
        }
        add(check_, std::move(problem));
    }

    std::span<const std::byte> file_;
    std::uint64_t log_id_;
    const std::optional<DurableLength>& durable_;
    std::uint64_t durable_bytes_;
    LogCheck& check_;
    HeaderSearch search_;
    std::uint64_t expected_;  // sequence number of the next record
    std::uint64_t offset_ = kLogHeaderBytes;
    std::uint64_t moved_ = 0;
    std::uint64_t looked_at_ = 0;
};

/// For a log that is intact, or was while it had a header.
Result<> walk(std::span<const std::byte> file, const LogHeader& header,
              const std::optional<DurableLength>& known, const AppendLog::ReplayFn& salvage,
              LogCheck& check) {
    // Another log's mark says nothing about this one.
    const std::optional<DurableLength> durable =
        known && (known->log_id == header.log_id || known->log_id == 0) ? known : std::nullopt;
    return LogWalk(file, header.log_id, header.first_sequence, durable, check).run(salvage);
}

/// What the records of a log whose own header is damaged say.
Result<> walk_without_header(std::span<const std::byte> file,
                             const std::optional<DurableLength>& known,
                             const AppendLog::ReplayFn& salvage, LogCheck& check) {
    std::optional<std::uint64_t> log_id = log_id_of_records(file);
    if (known && known->log_id != 0) log_id = known->log_id;
    std::optional<FoundHeader> first;
    if (log_id) first = HeaderSearch(file, *log_id).next(0);
    add(check, {0, first ? first->offset : file.size(), true, "no valid file header"});
    if (!first) return {};
    LogWalk rest(file, *log_id, first->header.sequence, known, check);
    rest.start_at(*first);
    return rest.run(salvage);
}

}  // namespace

Result<LogCheck> check_log(const Directory& directory, std::string_view name) {
    return salvage_log(directory, name, nullptr);
}

Result<LogCheck> salvage_log(const Directory& directory, std::string_view name,
                             const AppendLog::ReplayFn& salvage) {
    const auto durable = read_durable_mark(directory, name);
    BRAID_TRY(const auto view, directory.open(name));
    const std::string path = directory.path() + "/" + std::string(name);
    return salvage_log(view->bytes(), path, durable, salvage);
}

Result<LogCheck> salvage_log(std::span<const std::byte> file, std::string_view path,
                             const std::optional<DurableLength>& durable,
                             const AppendLog::ReplayFn& salvage) {
    LogCheck check;
    check.bytes = file.size();
    const auto header = decode_log_header(file, path);
    if (!header) {
        if (header.error().code != ErrorCode::Corruption) {
            return fail("cannot check", header.error());
        }
        BRAID_CHECK(walk_without_header(file, durable, salvage, check));
    } else if (*header) {
        BRAID_CHECK(walk(file, **header, durable, salvage, check));
    } else if (!file.empty()) {
        add(check,
            {0, file.size(), durable.has_value(), "the creation of the log was interrupted"});
    }
    return check;
}

}  // namespace braid::store
