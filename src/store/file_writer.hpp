#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "braid/result.hpp"
#include "braid/store/raw_directory.hpp"

namespace braid::store {

/// A new file written front to back, of any size, in large pieces. It has no name until `finish`
/// succeeds; after any failure, including a full disk, what was written is removed at once. Made by
/// Directory::write_file. Not safe for concurrent use.
class FileWriter {
public:
    /// Begins a file. Requires a valid name. Fail: AlreadyExists if the name is taken, either here
    /// or, if it is taken meanwhile, in `finish`.
    static Result<std::unique_ptr<FileWriter>> open(std::shared_ptr<RawDirectory> directory,
                                                    std::string name,
                                                    RawDirectory::IfTaken if_taken);
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;
    FileWriter(FileWriter&&) = delete;
    FileWriter& operator=(FileWriter&&) = delete;
    /// Without `finish`, nothing is left of the file.
    ~FileWriter();

    /// Appends bytes. The first failure is repeated by every later call.
    Result<> write(std::span<const std::byte> bytes);
    /// Bytes given to `write` so far.
    std::uint64_t size() const noexcept { return size_; }
    /// Makes the content durable, then the name. Call it once; nothing can be written after it.
    Result<> finish();

private:
    FileWriter(std::shared_ptr<RawDirectory> directory, std::string name,
               RawDirectory::IfTaken if_taken);
    Result<> begin();
    Result<> write_now(std::span<const std::byte> bytes);
    Result<> finish_now();
    Result<> remember(Result<> outcome);
    void remove_temporary() noexcept;

    std::shared_ptr<RawDirectory> directory_;
    std::string name_;
    RawDirectory::IfTaken if_taken_;
    std::string temporary_;  // empty: there is none (any more)
    std::unique_ptr<RawFile> file_;
    std::vector<std::byte> pending_;
    std::uint64_t size_ = 0;
    bool finished_ = false;
    std::optional<Error> failure_;
};

/// A name for something unfinished or already removed: very likely free; creating it tells whether
/// it was.
std::string own_name(std::string_view prefix);

inline constexpr std::string_view kTempPrefix = ".tmp-";
inline constexpr int kMaxNameAttempts = 100;

}  // namespace braid::store
