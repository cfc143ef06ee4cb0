#include "braid/ingest/group_writer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <utility>

#include "braid/core/parallel.hpp"

namespace braid::ingest {
namespace {

constexpr std::size_t kFewestChunks = 32;  // per write
constexpr std::size_t kMostChunks = 1000;
constexpr double kShortWrite = 0.25;  // seconds
constexpr double kLongWrite = 2;

bool is_about_a_file(const Error& error) {
    return error.code == ErrorCode::Conflict || error.code == ErrorCode::InvalidArgument;
}

}  // namespace

Result<> GroupWriter::write(std::vector<FileWork>& group) {
    for (FileWork& work : group) {
        if (work.settled) BRAID_CHECK(note(work));
    }
    failed_ = false;
    std::size_t next = 0;
    std::array<Result<>, 2> lanes;
    core::run_parallel(target_.is_concurrent() ? lanes.size() : 1,
                       [&](std::size_t lane) { lanes[lane] = write_batches(group, next); });
    for (Result<>& lane : lanes) BRAID_CHECK(std::move(lane));
    list(group);
    return {};
}

/// In the order of the files, whichever was written first.
void GroupWriter::list(std::vector<FileWork>& group) {
    for (FileWork& work : group) {
        if (!work.noted) continue;
        if (work.outcome.state == FileState::Stored) {
            const DocumentId& document = *work.stored.document;
            if (document.longer && !work.stored.first) report_.renamed.push_back(document.id);
            if (document.unmarked) replaced_.push_back(document.id);
        }
        report_.failed_lines += work.failed_lines.count;
        std::ranges::move(work.failed_lines.as_warnings(work.outcome.path),
                          std::back_inserter(report_.warnings));
        for (const std::string& warning : work.warnings) {
            report_.warnings.push_back(work.outcome.path + ": " + warning);
        }
        const FileState state = work.outcome.state;
        const bool as_hoped = (state == FileState::Stored || state == FileState::Unchanged) &&
                              work.failed_lines.count == 0;
        if (options_.list_all || !as_hoped) report_.outcomes.push_back(std::move(work.outcome));
    }
}

Result<> GroupWriter::write_batches(std::vector<FileWork>& group, std::size_t& next) {
    while (true) {
        const Batch batch = next_batch(group, next);
        if (batch.empty()) return {};
        const auto start = std::chrono::steady_clock::now();
        auto stored = store(batch);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        const std::scoped_lock lock(mutex_);
        if (!stored) {
            failed_ = true;
            return stored;
        }
        if (taken.count() < kShortWrite) {
            batch_chunks_ = std::min(2 * batch_chunks_, kMostChunks);
        } else if (taken.count() > kLongWrite) {
            batch_chunks_ = std::max(batch_chunks_ / 2, kFewestChunks);
        }
    }
}

/// Files to be stored, from `next` on. Empty if there are none, or no more are wanted.
GroupWriter::Batch GroupWriter::next_batch(std::vector<FileWork>& group, std::size_t& next) {
    const std::scoped_lock lock(mutex_);
    Batch batch;
    if (failed_ || options_.stop.stop_requested()) return batch;
    std::size_t chunks = 0;
    for (; next < group.size(); ++next) {
        FileWork& work = group[next];
        if (work.settled) continue;
        if (!batch.empty() && chunks + work.chunks.size() > batch_chunks_) break;
        batch.push_back(&work);
        chunks += work.chunks.size();
    }
    return batch;
}

Result<> GroupWriter::store(const Batch& batch) {
    WriteReport written;
    if (!options_.dry_run) {
        auto tried = replace(batch);
        if (!tried && batch.size() > 1 && is_about_a_file(tried.error())) {
            for (FileWork* const work : batch) BRAID_CHECK(store({work}));
            return {};
        }
        const std::scoped_lock lock(mutex_);
        if (!tried) {
            if (!is_about_a_file(tried.error())) {
                return fail(batch.front()->outcome.path, tried.error());
            }
            batch.front()->settle(FileState::Failed, tried.error().message);
            return note(*batch.front());
        }
        written = *std::move(tried);
    }
    const std::scoped_lock lock(mutex_);
    std::ranges::move(written.warnings, std::back_inserter(report_.warnings));
    report_.removed += written.removed;
    for (FileWork* const work : batch) {
        report_.chunks += work->outcome.chunks;
        report_.tokens += work->tokens;
        BRAID_CHECK(note(*work));
    }
    return {};
}

/// Whole records first: the chunks tell that a document is stored, so they come last.
Result<WriteReport> GroupWriter::replace(const Batch& batch) {
    std::vector<Chunk> chunks;
    std::vector<Chunk> documents;
    // One file alone is not tried a second time.
    if (batch.size() == 1) chunks = std::move(batch.front()->chunks);
    for (const FileWork* const work : batch) {
        std::ranges::copy(work->chunks, std::back_inserter(chunks));
        if (work->whole) documents.push_back(*work->whole);
    }
    // The write's warning that an embedder reads only part of a text is expected of whole
    // documents, so it is dropped.
    if (!documents.empty()) BRAID_CHECK(target_.replace_whole(std::move(documents)));
    return target_.replace(std::move(chunks));
}

/// Counts a file's outcome. If it has no text, what was stored of it is removed.
Result<> GroupWriter::note(FileWork& work) {
    const FileOutcome& outcome = work.outcome;
    const bool readable = !outcome.format.empty() || outcome.reason == "empty";
    report_.files += readable || outcome.state == FileState::Failed;
    report_.written += outcome.state == FileState::Stored;
    report_.unchanged += outcome.state == FileState::Unchanged;
    if (outcome.state == FileState::Failed) {
        report_.failed.push_back(outcome.path + ": " + outcome.reason);
    }
    const bool emptied = outcome.state == FileState::Skipped && readable;
    if (emptied && work.stored.first && work.stored.document && !options_.dry_run) {
        BRAID_TRY(const std::uint64_t removed, target_.remove({work.stored.document->id}));
        report_.removed += removed;
    }
    work.noted = true;
    ++progress_.files_done;
    progress_.bytes_done += work.file->bytes;
    progress_.chunks = report_.chunks;
    work.chunks = {};
    if (options_.progress) options_.progress(progress_);
    if (options_.strict && outcome.state == FileState::Failed) {
        return fail(ErrorCode::IoError, report_.failed.back());
    }
    return {};
}

}  // namespace braid::ingest
