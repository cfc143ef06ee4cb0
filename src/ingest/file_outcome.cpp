#include "braid/ingest/file_outcome.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace braid::ingest {

std::string_view file_state_name(FileState state) {
    switch (state) {
        case FileState::Stored:
            return "stored";
        case FileState::Unchanged:
            return "unchanged";
        case FileState::Skipped:
            return "skipped";
        case FileState::Failed:
            return "failed";
    }
    return "failed";
}

std::size_t count_of_state(const std::vector<FileOutcome>& outcomes, FileState state) {
    return static_cast<std::size_t>(std::ranges::count(outcomes, state, &FileOutcome::state));
}

std::string skipped_by_reason(const std::vector<FileOutcome>& outcomes) {
    std::map<std::string, std::size_t> counts;
    for (const FileOutcome& file : outcomes) {
        if (file.state == FileState::Skipped) ++counts[file.reason];
    }
    std::vector<std::pair<std::string, std::size_t>> reasons(counts.begin(), counts.end());
    std::ranges::stable_sort(reasons, std::ranges::greater{},
                             &std::pair<std::string, std::size_t>::second);
    std::string text;
    for (const auto& [reason, count] : reasons) {
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + reason;
    }
    return text;
}

Value files_to_value(const std::vector<FileOutcome>& files) {
    Array entries;
    entries.reserve(files.size());
    for (const FileOutcome& file : files) {
        Object entry{{"path", Value(file.path)}, {"state", Value(file_state_name(file.state))}};
        if (!file.reason.empty()) entry.set("reason", file.reason);
        if (!file.document_id.empty()) entry.set("document_id", file.document_id);
        if (file.chunks > 0) entry.set("chunks", file.chunks);
        if (file.failed_lines > 0) entry.set("failed_lines", file.failed_lines);
        if (!file.format.empty()) entry.set("format", file.format);
        if (!file.encoding.empty()) entry.set("encoding", file.encoding);
        entries.emplace_back(std::move(entry));
    }
    return entries;
}

}  // namespace braid::ingest
