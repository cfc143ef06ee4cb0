#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "braid/ingest/directory.hpp"
#include "braid/ingest/file_work.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// Writes files that were cut, some files at a time, and reports on each. How many at a time is
/// found on the way: enough that the cost of a write is spread over many chunks, few enough that
/// progress shows and little is done again after an interrupt. Where the target allows it, two
/// writes are under way: one is embedded while the other waits for the disk.
class GroupWriter {
public:
    /// All of them outlive it. The report's `times` are not touched.
    GroupWriter(DirectoryTarget& target, const DirectoryOptions& options, DirectoryReport& report)
        : target_(target), options_(options), report_(report) {}

    void expect(std::size_t files) { progress_.files = files; }

    /// Returns early, without an error, if the run was told to stop.
    Result<> write(std::vector<FileWork>& group);

    /// Documents of a version that did not note the file, which files of this run replaced.
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
    std::mutex mutex_;  // guards all that follows, and the report
    DirectoryReport& report_;
    DirectoryProgress progress_;
    std::size_t batch_chunks_ = 64;
    bool failed_ = false;  // a batch of this group
    std::vector<std::string> replaced_;
};

}  // namespace braid::ingest
