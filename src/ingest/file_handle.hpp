#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "braid/result.hpp"

namespace braid::ingest {

/// A file opened for reading, or standard input. Movable; closes what it opened.
class FileHandle {
public:
    /// "-" is standard input. NotFound if there is no such file, InvalidArgument for a directory,
    /// IoError.
    static Result<FileHandle> open(const std::string& path);

    FileHandle(FileHandle&& other) noexcept;
    FileHandle& operator=(FileHandle&& other) noexcept;
    FileHandle(const FileHandle&) = delete;
    FileHandle& operator=(const FileHandle&) = delete;
    ~FileHandle();

    /// What messages call it: the path, or "standard input".
    const std::string& name() const noexcept { return name_; }
    /// None for pipes and terminals.
    std::optional<std::uint64_t> size() const noexcept { return size_; }

    /// Reads on from where the last call ended; 0 at the end. Cancelled soon after `stop` is
    /// requested, even while a pipe is silent.
    Result<std::size_t> read(std::span<char> out, const std::stop_token& stop = {});
    /// Fills `out`, starting at `offset`. Corruption if the file ends first.
    Result<> read_at(std::uint64_t offset, std::span<std::byte> out) const;

private:
    FileHandle(int descriptor, std::string name, std::optional<std::uint64_t> size)
        : descriptor_(descriptor), name_(std::move(name)), size_(size) {}

    int descriptor_;
    std::string name_;
    std::optional<std::uint64_t> size_;
};

}  // namespace braid::ingest
