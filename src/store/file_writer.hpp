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

/// A new file written front to back, of any size, in large pieces. It has no name before `finish`
/// has succeeded: until then it is a left-over to be, and after any failure, a full disk among
/// them, it is removed at once. Made by Directory::write_file. Not safe for concurrent use.
class FileWriter {
public:
    /// Begins a file. Requires a valid name. Fail: AlreadyExists if the name is taken, here or, if
    /// someone takes it meanwhile, by `finish`.
    static Result<std::unique_ptr<FileWriter>> open(std::shared_ptr<RawDirectory> directory,
                                                    std::string name,
                                                    RawDirectory::IfTaken if_taken);
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;
    FileWriter(FileWriter&&) = delete;
    FileWriter& operator=(FileWriter&&) = delete;
    /// Without `finish`, nothing is left of the file.
    ~FileWriter();

    /// More bytes at the end. The first failure is repeated by every later call.
    Result<> write(std::span<const std::byte> bytes);
    /// Bytes given to `write` so far.
    std::uint64_t size() const noexcept { return size_; }
    /// The content is durable, then the name. To be called once; nothing can be written after it.
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

/// A name for what is not finished or already removed, very likely free; whoever takes it finds
/// out whether it was.
std::string own_name(std::string_view prefix);

inline constexpr std::string_view kTempPrefix = ".tmp-";
inline constexpr int kMaxNameAttempts = 100;

}  // namespace braid::store
