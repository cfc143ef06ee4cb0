#include "braid/cli/commands/ingest_files.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "braid/eval/numbers.hpp"
#include "braid/ingest/format.hpp"
#include "braid/ingest/source_document.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kMaxFirstLine = std::size_t{64} << 10;

std::string first_bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::string bytes(kMaxFirstLine, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(in.gcount()));
    return bytes;
}

}  // namespace

bool is_lines(const std::string& path) {
    std::error_code ignored;
    if (path == "-") return true;
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::is_directory(status)) return false;
    if (!std::filesystem::is_regular_file(status)) return true;
    const std::string extension = ingest::extension_of(path);
    if (extension == ".jsonl" || extension == ".ndjson") return true;
    if (extension == ".md" || extension == ".markdown" || extension == ".txt" ||
        extension == ".ipynb") {
        return false;
    }
    const std::string head = first_bytes(path);
    const bool whole = head.size() < kMaxFirstLine || head.find('\n') != std::string::npos;
    const std::string_view line =
        ingest::trimmed(std::string_view(head).substr(0, head.find('\n')));
    return line.starts_with('{') && (!whole || line.ends_with('}'));
}

Result<> check_only_path(const std::string& path, const ingest::Listing& listing) {
    if (listing.files.empty()) {
        std::vector<ingest::FileOutcome> left_out;
        for (const ingest::LeftOut& left : listing.left_out) {
            left_out.push_back({.path = left.path,
                                .state = ingest::FileState::Skipped,
                                .reason = left.reason,
                                .document_id = {},
                                .chunks = 0,
                                .format = {},
                                .encoding = {}});
        }
        const std::string reasons = ingest::skipped_by_reason(left_out);
        return fail(ErrorCode::NotFound,
                    path + " holds no files" +
                        (reasons.empty() ? "" : " to be read; left out: " + reasons));
    }
    if (!listing.files.front().named || listing.files.front().bytes == 0) return {};
    if (ingest::detect_format(path, first_bytes(path))) return {};
    return invalid_argument(path + ": its format is not supported; braid reads " +
                            std::string(ingest::supported_formats()));
}

std::vector<std::string> file_lines(const ingest::DirectoryReport& report,
                                    const ingest::DirectoryOptions& options) {
    std::vector<std::string> lines;
    const std::string skipped = ingest::skipped_by_reason(report.outcomes);
    if (!skipped.empty()) lines.push_back("Skipped: " + skipped + ".");
    if (!report.failed.empty()) {
        lines.push_back("Failed: " + eval::count_of(report.failed.size(), "file", "files") + ".");
    }
    if (options.prune && !report.gone.empty()) {
        lines.push_back(
            (options.dry_run ? "Would remove " : "Removed ") +
            eval::count_of(report.gone.size(), "document", "documents") +
            (report.gone.size() == 1 ? " whose file is gone." : " whose files are gone."));
    }
    return lines;
}

Value files_to_value(const std::vector<ingest::FileOutcome>& files) {
    Array entries;
    entries.reserve(files.size());
    for (const ingest::FileOutcome& file : files) {
        Object entry{{"path", Value(file.path)},
                     {"state", Value(ingest::file_state_name(file.state))}};
        if (!file.reason.empty()) entry.set("reason", file.reason);
        if (!file.document_id.empty()) entry.set("document_id", file.document_id);
        if (file.chunks > 0) entry.set("chunks", file.chunks);
        if (!file.format.empty()) entry.set("format", file.format);
        if (!file.encoding.empty()) entry.set("encoding", file.encoding);
        entries.emplace_back(std::move(entry));
    }
    return entries;
}

}  // namespace braid::cli
