#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "braid/ingest/directory.hpp"
#include "braid/ingest/file_work.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// Writes files that have been cut, several at a time, and reports on each. How many at a time is
/// found along the way: enough to spread the cost of a write over many chunks, few enough that
/// progress shows and little is repeated after an interruption. Where the target allows it, two
/// writes are in progress: one is embedded while the other waits for the disk.
class GroupWriter {
public:
    /// The arguments must outlive it. The report's `times` are not touched.
    GroupWriter(DirectoryTarget& target, const DirectoryOptions& options, DirectoryReport& report)
        : target_(target), options_(options), report_(report) {}

    void expect(std::size_t files) { progress_.files = files; }

    /// Returns early, without an error, if the run was told to stop.
    Result<> write(std::vector<FileWork>& group);

    /// Documents stored by a version that did not record the file, and replaced by files of this
    /// run.
    const std::vector<std::string>& replaced() const { return replaced_; }

private:
    using Batch = std::vector<FileWork*>;

    Result<> write_batches(std::vector<FileWork>& group, std::size_t& next);
    Batch next_batch(std::vector<FileWork>& group, std::size_t& next);
    Result<> store(const Batch& batch);
    Result<WriteReport> replace(const Batch& batch);
    Result<> note(FileWork& work);
    void list(std::vector<FileWork>& group);

    DirectoryTarget& target_;
    const DirectoryOptions& options_;
    std::mutex mutex_;  // guards everything below, and the report
    DirectoryReport& report_;
    DirectoryProgress progress_;
    std::size_t batch_chunks_ = 64;
    bool failed_ = false;  // a batch of this group failed
    std::vector<std::string> replaced_;
};

}  // namespace braid::ingest
