#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/ingest/compression.hpp"
#include "braid/ingest/file_handle.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// The bytes of a text file, which may be packed by gzip or zstd, block by block.
class TextBytes {
public:
    explicit TextBytes(FileHandle file) : file_(std::move(file)) {}

    /// How many bytes were put at the front of `out`; 0 at the end. InvalidArgument if packed data
    /// is damaged.
    Result<std::size_t> read(std::span<char> out, const std::stop_token& stop = {});

    const FileHandle& file() const noexcept { return file_; }
    /// Of the file as stored.
    std::uint64_t file_bytes_read() const noexcept { return file_bytes_read_; }

private:
    Result<std::size_t> read_file(std::span<char> out, const std::stop_token& stop);

    FileHandle file_;
    std::uint64_t file_bytes_read_ = 0;
    bool started_ = false;
    std::optional<Unpacker> unpacker_;
    std::vector<char> packed_;
    std::string_view left_;  // of packed_
};

/// The lines of a text file, in memory bounded by the longest line. Drops a byte order mark, and
/// "\r" before "\n"; skips lines of white space. Unpacks gzip and zstd.
class LineReader {
public:
    LineReader(FileHandle file, std::size_t max_line_bytes, std::stop_token stop = {});

    /// Borrowed until the next call; nullopt at the end. InvalidArgument, naming file and line, if
    /// the line is longer than allowed or not UTF-8; the next call continues with the line after
    /// it.
    Result<std::optional<std::string_view>> next();

    /// Of the line that next() returned last, from 1, counting blank lines.
    std::uint64_t number() const noexcept { return number_; }
    /// Of the file as stored.
    std::uint64_t bytes_read() const noexcept { return bytes_.file_bytes_read(); }
    /// Of the unpacked text.
    std::uint64_t text_bytes_read() const noexcept { return text_bytes_read_; }
    std::optional<std::uint64_t> file_bytes() const noexcept { return bytes_.file().size(); }
    const std::string& name() const noexcept { return bytes_.file().name(); }

    /// InvalidArgument "FILE:LINE: what" about the current line.
    tl::unexpected<Error> complain(std::string_view what) const;

private:
    /// The next line unprocessed, or nullopt at the end.
    Result<std::optional<std::string_view>> raw_line();
    Result<bool> fill();
    /// Skips what is left of a line that was too long.
    Result<> skip_rest();

    TextBytes bytes_;
    std::size_t max_line_bytes_;
    std::stop_token stop_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  // of what was read and not yet returned
    std::size_t end_ = 0;
    std::uint64_t number_ = 0;
    std::uint64_t text_bytes_read_ = 0;
    bool at_end_ = false;
    bool in_long_line_ = false;  // its end has not been read yet
};

/// How many lines of the file LineReader would return, without looking at their content.
Result<std::uint64_t> count_lines(const std::string& path);

}  // namespace braid::ingest
