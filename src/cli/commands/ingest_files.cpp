#include "braid/cli/commands/ingest_files.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string_view>
#include <utility>

#include "braid/core/numbers.hpp"
#include "braid/ingest/compression.hpp"
#include "braid/ingest/file_handle.hpp"
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

Result<ingest::DirectoryOptions> directory_options(const Arguments& arguments) {
    ingest::DirectoryOptions options;
    BRAID_TRY(const auto max_tokens, arguments.integer("max-tokens", 16, 100'000));
    BRAID_TRY(const auto overlap, arguments.integer("overlap", 0, 50'000));
    ingest::ChunkingOptions& chunking = options.chunking;
    if (max_tokens) chunking.max_tokens = static_cast<std::size_t>(*max_tokens);
    if (overlap) chunking.overlap_tokens = static_cast<std::size_t>(*overlap);
    const std::string chunker = arguments.text_or("chunker", "structure");
    if (chunker == "sentences") chunking.method = ingest::ChunkingMethod::Sentences;
    if (chunker == "fixed") chunking.method = ingest::ChunkingMethod::Fixed;
    options.replace = arguments.has("replace");
    options.walk.include = arguments.list("include");
    options.walk.exclude = arguments.list("exclude");
    options.walk.everything = arguments.has("everything");
    options.prune = arguments.has("prune");
    options.dry_run = arguments.has("dry-run");
    options.strict = arguments.has("strict");
    return options;
}

bool is_lines(const std::string& path) {
    std::error_code ignored;
    if (path == "-") return true;
    const auto status = std::filesystem::status(path, ignored);
    if (std::filesystem::is_directory(status)) return false;
    if (!std::filesystem::is_regular_file(status)) return true;
    const std::string extension = ingest::extension_of(ingest::unpacked_name(path));
    if (extension == ".jsonl" || extension == ".ndjson") return true;
    if (extension == ".md" || extension == ".markdown" || extension == ".txt" ||
        extension == ".ipynb") {
        return false;
    }
    std::string head = first_bytes(path);
    if (ingest::compression_of(head) != ingest::Compression::None) {
        head = ingest::decompressed_head(head, kMaxFirstLine);
    }
    if (!ingest::detect_format(path, head)) return false;  // RTF begins with a brace, too
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
                        (reasons.empty() ? "" : " that braid reads; left out: " + reasons));
    }
    if (!listing.files.front().named || listing.files.front().bytes == 0) return {};
    if (ingest::detect_format(path, first_bytes(path))) return {};
    return invalid_argument(path + ": its format is not supported; braid reads " +
                            std::string(ingest::supported_formats()));
}

Result<std::string> read_piped(const ingest::DirectoryOptions& options) {
    BRAID_TRY(auto file, ingest::FileHandle::open("-"));
    std::string bytes;
    std::vector<char> buffer(kMaxFirstLine);
    while (true) {
        BRAID_TRY(const std::size_t got, file.read(buffer, options.stop));
        if (got == 0) return bytes;
        bytes.append(buffer.data(), got);
        if (bytes.size() > options.max_file_bytes) {
            return invalid_argument("standard input has more than " +
                                    std::to_string(options.max_file_bytes) + " bytes");
        }
    }
}

std::string state_of(const std::vector<std::string>& paths, const ingest::WalkOptions& walk) {
    std::string state;
    for (const std::string& path : paths) {
        const auto listing = ingest::list_files(path, walk);
        if (!listing) continue;
        for (const ingest::SourceFile& file : listing->files) {
            std::error_code ignored;
            const auto time = std::filesystem::last_write_time(file.path(), ignored);
            state += file.place().string() + '\n' + std::to_string(file.bytes) + ' ' +
                     std::to_string(time.time_since_epoch().count()) + '\n';
        }
    }
    return state;
}

bool wait_for_change(const std::vector<std::string>& paths, const ingest::DirectoryOptions& options,
                     std::string& before) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    while (!options.stop.stop_requested()) {
        never.wait_for(lock, options.stop, std::chrono::seconds(1), [] { return false; });
        std::string now = state_of(paths, options.walk);
        if (now == before) continue;
        before = std::move(now);
        return !options.stop.stop_requested();
    }
    return false;
}

std::vector<std::string> file_lines(const ingest::DirectoryReport& report,
                                    const ingest::DirectoryOptions& options) {
    std::vector<std::string> lines;
    const std::string skipped = ingest::skipped_by_reason(report.outcomes);
    if (!skipped.empty()) lines.push_back("Skipped: " + skipped + ".");
    if (!report.failed.empty()) {
        lines.push_back("Failed: " + core::count_of(report.failed.size(), "file", "files") + ".");
    }
    if (options.prune && !report.gone.empty()) {
        lines.push_back(
            (options.dry_run ? "Would remove " : "Removed ") +
            core::count_of(report.gone.size(), "document", "documents") +
            (report.gone.size() == 1 ? " whose file is gone." : " whose files are gone."));
    }
    return lines;
}

}  // namespace braid::cli
