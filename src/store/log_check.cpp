#include "braid/store/log_check.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "braid/store/log_format.hpp"

namespace braid::store {
namespace {

constexpr std::size_t kMaxListedProblems = 100;

void add(LogCheck& check, LogProblem problem) {
    ++check.problem_count;
    if (check.problems.size() < kMaxListedProblems) check.problems.push_back(std::move(problem));
}

/// How far headers witness that the file was durable: one search instead of one per damage.
std::uint64_t durable_bytes(std::span<const std::byte> file, std::uint64_t log_id) {
    std::uint64_t durable = 0;
    for (auto found = find_header(file, log_id, kLogHeaderBytes); found;
         found = find_header(file, log_id, found->offset + 1)) {
        durable = std::max(durable, found->header.durable_before);
    }
    return durable;
}

Result<> walk(std::span<const std::byte> file, const LogHeader& header,
              const AppendLog::ReplayFn& salvage, LogCheck& check) {
    const std::uint64_t durable = durable_bytes(file, header.log_id);
    std::uint64_t offset = kLogHeaderBytes;
    std::uint64_t expected = header.first_sequence;
    while (offset < file.size()) {
        RecordAt found = read_record(file, header.log_id, offset);
        if (!found.record) {
            const auto resume = find_header(file, header.log_id, found.next);
            const std::uint64_t end = resume ? resume->offset : file.size();
            add(check, {offset, end - offset, durable > offset, std::move(found.problem)});
            offset = end;
            if (resume) expected = resume->header.sequence;
            continue;
        }
        const std::uint64_t sequence = found.record->header.sequence;
        if (sequence != expected) {
            add(check, {offset, 0, true,
                        "record " + std::to_string(sequence) + " stands where record " +
                            std::to_string(expected) + " belongs"});
        }
        if (salvage) BRAID_CHECK(salvage(sequence, found.record->payload));
        ++check.records;
        expected = sequence + 1;
        offset = found.next;
    }
    return {};
}

/// What the file header must have said, from the first record.
std::optional<LogHeader> header_of_first_record(std::span<const std::byte> file) {
    const auto record = decode_record_header(file, kLogHeaderBytes);
    if (!record) return std::nullopt;
    return LogHeader{record->log_id, record->sequence};
}

}  // namespace

Result<LogCheck> check_log(const Directory& directory, std::string_view name) {
    return salvage_log(directory, name, nullptr);
}

Result<LogCheck> salvage_log(const Directory& directory, std::string_view name,
                             const AppendLog::ReplayFn& salvage) {
    BRAID_TRY(const auto view, directory.open(name));
    return salvage_log(view->bytes(), directory.path() + "/" + std::string(name), salvage);
}

Result<LogCheck> salvage_log(std::span<const std::byte> file, std::string_view path,
                             const AppendLog::ReplayFn& salvage) {
    LogCheck check;
    check.bytes = file.size();
    const auto read = decode_log_header(file, path);
    std::optional<LogHeader> header;
    if (read) {
        header = *read;
        if (!header && !file.empty()) {
            add(check, {0, file.size(), false, "the creation of the log was interrupted"});
        }
    } else {
        if (read.error().code != ErrorCode::Corruption) return fail("cannot check", read.error());
        header = header_of_first_record(file);
        const std::uint64_t lost = header ? kLogHeaderBytes : file.size();
        add(check, {0, lost, true, "no valid file header"});
    }
    if (header) BRAID_CHECK(walk(file, *header, salvage, check));
    return check;
}

}  // namespace braid::store
