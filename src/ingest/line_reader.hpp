#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/ingest/file_handle.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// The lines of a text file, in memory bounded by the longest line. Drops a byte order mark, and
/// "\r" before "\n"; passes over lines of white space.
class LineReader {
public:
    LineReader(FileHandle file, std::size_t max_line_bytes, std::stop_token stop = {});

    /// Borrowed until the next call; nullopt at the end. InvalidArgument, naming file and line, if
    /// the line is longer than allowed or not UTF-8; the next call goes on with the line after it.
    Result<std::optional<std::string_view>> next();

    /// Of the line that next() returned last, from 1; blank lines count.
    std::uint64_t number() const noexcept { return number_; }
    std::uint64_t bytes_read() const noexcept { return bytes_read_; }
    std::optional<std::uint64_t> file_bytes() const noexcept { return file_.size(); }
    const std::string& name() const noexcept { return file_.name(); }

    /// InvalidArgument "FILE:LINE: what" about the present line.
    tl::unexpected<Error> complain(std::string_view what) const;

private:
    /// The next line as it stands, or nullopt at the end.
    Result<std::optional<std::string_view>> raw_line();
    Result<bool> fill();
    /// Passes over what is left of a line that was too long.
    Result<> skip_rest();

    FileHandle file_;
    std::size_t max_line_bytes_;
    std::stop_token stop_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  // of what was read and not yet returned
    std::size_t end_ = 0;
    std::uint64_t number_ = 0;
    std::uint64_t bytes_read_ = 0;
    bool at_end_ = false;
    bool in_long_line_ = false;  // whose end was not read yet
};

/// How many lines of the file LineReader would return, without looking at what they hold.
Result<std::uint64_t> count_lines(const std::string& path);

}  // namespace braid::ingest
