#include "braid/ingest/directory.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <set>
#include <span>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "braid/core/parallel.hpp"
#include "braid/ingest/file_work.hpp"
#include "braid/ingest/group_writer.hpp"
#include "braid/ingest/new_source.hpp"
#include "braid/ingest/stored_files.hpp"

namespace braid::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamedIds = 3;  // in a warning
/// Files that go through the stages together.
constexpr std::size_t kGroupFiles = 512;
constexpr std::uint64_t kGroupBytes = std::uint64_t{16} << 20;
/// Part of every fingerprint: raised when files are read or cut differently.
constexpr std::string_view kReading = "7";

class Stopwatch {
public:
    explicit Stopwatch(double& seconds) : seconds_(seconds) {}
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    ~Stopwatch() {
        seconds_ +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    double& seconds_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// "3 documents …: a, b, c, …"
std::string count_and_name(const std::vector<std::string>& ids, std::string_view one,
                           std::string_view many) {
    std::string text = ids.size() == 1 ? "1 " + std::string(one)
                                       : std::to_string(ids.size()) + " " + std::string(many);
    for (std::size_t i = 0; i < std::min(ids.size(), kNamedIds); ++i) {
        text += (i == 0 ? ": " : ", ") + ids[i];
    }
    return ids.size() > kNamedIds ? text + ", …" : text;
}

/// The processing of some directories.
class DirectoryIngest {
public:
    DirectoryIngest(DirectoryTarget& target, const DirectoryOptions& options)
        : target_(target),
          options_(options),
          chunking_(options.chunking),
          stored_(target, options.replace),
          writer_(target, options, report_) {}

    Result<DirectoryReport> run(const std::vector<fs::path>& roots) {
        auto report = work_on(roots);
        // A write that was stopped while it embedded says less.
        const bool stopped = !report && report.error().code == ErrorCode::Cancelled;
        return stopped && options_.stop.stop_requested() ? interrupted() : std::move(report);
    }

private:
    Result<DirectoryReport> work_on(const std::vector<fs::path>& roots) {
        BRAID_CHECK(list(roots));
        BRAID_CHECK(prepare());
        for (std::size_t begin = 0; begin < files_.size();) {
            if (options_.stop.stop_requested()) {
                BRAID_CHECK(finish_writing());
                return interrupted();
            }
            const std::size_t end = end_of_group(begin);
            auto done = handle(std::span(files_).subspan(begin, end - begin));
            if (!done) {
                BRAID_CHECK(finish_writing());
                return tl::unexpected<Error>(std::move(done).error());
            }
            begin = end;
        }
        BRAID_CHECK(finish_writing());
        if (options_.stop.stop_requested()) return interrupted();
        BRAID_CHECK(look_for_gone());
        warn_about_ids();
        return std::move(report_);
    }

    static tl::unexpected<Error> interrupted() {
        return fail(ErrorCode::Cancelled,
                    "interrupted; what was written stays, the next run continues from there");
    }

    Result<> list(const std::vector<fs::path>& roots) {
        std::unordered_set<std::string> places;  // one folder never lists a file twice
        for (const fs::path& root : roots) {
            BRAID_TRY(Listing found, list_files(root, options_.walk));
            for (LeftOut& left : found.left_out) {
                if (left.failed) report_.failed.push_back(left.path + ": " + left.reason);
                FileOutcome& outcome = report_.outcomes.emplace_back();
                outcome.path = std::move(left.path);
                outcome.state = left.failed ? FileState::Failed : FileState::Skipped;
                outcome.reason = std::move(left.reason);
            }
            std::error_code ignored;
            if (fs::is_directory(root, ignored)) folders_.insert(fs::canonical(root, ignored));
            files_.reserve(files_.size() + found.files.size());
            for (SourceFile& file : found.files) {
                if (roots.size() > 1 && !places.insert(file.place().string()).second) continue;
                files_.push_back(std::move(file));
            }
        }
        writer_.expect(files_.size());
        if (options_.strict && !report_.failed.empty()) {
            return fail(ErrorCode::IoError, report_.failed.front());
        }
        return {};
    }

    Result<> prepare() {
        BRAID_TRY(const std::string embedder, target_.embedder());
        BRAID_TRY(chunking_, chunking_for(target_, options_.chunking));
        settings_ = std::string(kReading) + "\n" + embedder + "\n" +
                    std::to_string(chunking_.max_tokens) + "\n" +
                    std::to_string(chunking_.overlap_tokens) + "\n";
        if (chunking_.method != ChunkingMethod::Structure) {
            settings_ += std::to_string(static_cast<int>(chunking_.method)) + "\n";
        }
        if (!options_.documents.empty()) settings_ += "whole " + options_.documents + "\n";
        return {};
    }

    std::size_t end_of_group(std::size_t begin) const {
        std::uint64_t bytes = 0;
        std::size_t end = begin;
        while (end < files_.size() && end - begin < kGroupFiles &&
               (end == begin || bytes + files_[end].bytes <= kGroupBytes)) {
            bytes += std::min(files_[end].bytes, options_.max_file_bytes);
            ++end;
        }
        return end;
    }

    /// Reads and cuts one group of files and hands it over for writing. The previous group is
    /// written meanwhile.
    Result<> handle(std::span<const SourceFile> files) {
        std::vector<FileWork> group(files.size());
        for (std::size_t i = 0; i < files.size(); ++i) {
            group[i].file = &files[i];
            group[i].outcome.path = shown_path(files[i].path());
        }
        read(group);
        BRAID_CHECK(find(group));
        parse(group);
        BRAID_CHECK(finish_writing());
        if (target_.is_concurrent()) {
            writing_ = std::async(std::launch::async, [this, group = std::move(group)]() mutable {
                return write(group);
            });
            return {};
        }
        return write(group);
    }

    void read(std::vector<FileWork>& group) {
        const Stopwatch watch(report_.times.reading);
        core::run_computing(group.size(), [&](std::size_t i) {
            read_file(group[i], options_.max_file_bytes, settings_);
        });
    }

    Result<> find(std::vector<FileWork>& group) {
        std::vector<const SourceFile*> files;
        std::vector<FileWork*> works;
        for (FileWork& work : group) {
            if (work.settled && work.outcome.format.empty() &&
                work.outcome.state == FileState::Skipped && work.outcome.reason != "empty") {
                continue;  // nothing was ever stored from this format
            }
            files.push_back(work.file);
            works.push_back(&work);
        }
        BRAID_TRY(auto found, stored_.find(files));
        for (std::size_t i = 0; i < works.size(); ++i) {
            FileWork& work = *works[i];
            work.stored = std::move(found[i]);
            if (work.settled) continue;
            if (!work.stored.document) {
                work.settle(FileState::Failed,
                            "every id it could have belongs to another document");
                continue;
            }
            work.outcome.document_id = work.stored.document->id;
            BRAID_TRY(
                const bool unchanged,
                stored_.is_unchanged(work.stored, *work.file, work.fingerprint, options_.dry_run));
            if (!unchanged) continue;
            work.settle(FileState::Unchanged, {});
            const Value* const lines = work.stored.first->metadata.find(kFailedLinesKey);
            if (lines != nullptr && lines->is_int() && lines->as_int() > 0) {
                work.failed_lines.count = static_cast<std::uint64_t>(lines->as_int());
                work.outcome.failed_lines = work.failed_lines.count;
            }
        }
        return {};
    }

    void parse(std::vector<FileWork>& group) {
        const Stopwatch watch(report_.times.parsing);
        core::run_computing(group.size(), [&](std::size_t i) {
            if (!group[i].settled) cut_file(group[i], chunking_, !options_.documents.empty());
            group[i].bytes = {};
            const std::vector<std::string>& lines = group[i].failed_lines.first;
            if (options_.strict && !lines.empty()) {
                group[i].settle(FileState::Failed, "line " + lines.front());
            }
        });
    }

    Result<> finish_writing() {
        if (!writing_.valid()) return {};
        return writing_.get();
    }

    Result<> write(std::vector<FileWork>& group) {
        const Stopwatch watch(report_.times.storing);
        return writer_.write(group);
    }

    Result<> look_for_gone() {
        const bool missing_only = !options_.walk.include.empty() || !options_.walk.exclude.empty();
        for (const fs::path& folder : folders_) {
            BRAID_TRY(auto gone, stored_.gone_from(folder.generic_string(), missing_only));
            std::ranges::move(gone, std::back_inserter(report_.gone));
        }
        if (folders_.size() > 1) {  // one may be below another
            std::ranges::sort(report_.gone);
            const auto twice = std::ranges::unique(report_.gone);
            report_.gone.erase(twice.begin(), twice.end());
        }
        if (report_.gone.empty() || !options_.prune || options_.dry_run) return {};
        constexpr std::size_t at_once = 500;
        for (std::size_t at = 0; at < report_.gone.size(); at += at_once) {
            const auto part =
                std::span(report_.gone).subspan(at, std::min(at_once, report_.gone.size() - at));
            BRAID_TRY(const std::uint64_t removed, target_.remove({part.begin(), part.end()}));
            report_.removed += removed;
        }
        return {};
    }

    void warn_about_ids() {
        if (!report_.renamed.empty()) {
            report_.warnings.push_back(
                count_and_name(report_.renamed,
                               "file was stored with the name of its folder, because another "
                               "document has its path",
                               "files were stored with the names of their folders, because other "
                               "documents have their paths"));
        }
        if (!writer_.replaced().empty()) {
            report_.warnings.push_back(
                count_and_name(writer_.replaced(),
                               "document stored by an earlier version of braid, which did not "
                               "record the folder, was replaced by the file with its path",
                               "documents stored by an earlier version of braid, which did not "
                               "record the folder, were replaced by the files with their paths"));
        }
        if (!report_.gone.empty() && !options_.prune) {
            report_.warnings.push_back(count_and_name(
                report_.gone, "stored document no longer has a file; --prune removes it",
                "stored documents no longer have files; --prune removes them"));
        }
    }

    DirectoryTarget& target_;
    const DirectoryOptions& options_;
    ChunkingOptions chunking_;
    StoredFiles stored_;
    std::string settings_;
    std::vector<SourceFile> files_;
    std::set<fs::path> folders_;  // as given, absolute, without links
    DirectoryReport report_;
    GroupWriter writer_;
    std::future<Result<>> writing_;  // a group; the last member, so that it ends first
};

}  // namespace

Result<DirectoryReport> ingest_directory(DirectoryTarget& target,
                                         const std::vector<fs::path>& roots,
                                         const DirectoryOptions& options) {
    return DirectoryIngest(target, options).run(roots);
}

}  // namespace braid::ingest
