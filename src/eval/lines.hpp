#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/result.hpp"

namespace braid::eval {

/// The whole of a file. NotFound if there is none of that name, IoError if it cannot be read.
Result<std::string> read_file(const std::string& path);

/// Walks the lines of a text file held in memory: counts them from 1, drops "\r" before "\n" and a
/// UTF-8 byte order mark, skips lines of white space only. Messages read "FILE:LINE: what is
/// wrong".
class Lines {
public:
    /// Both arguments must outlive this.
    Lines(std::string_view text, std::string_view source);

    /// The next line that holds something; nullopt at the end. InvalidArgument if the line holds a
    /// NUL byte or is not UTF-8.
    Result<std::optional<std::string_view>> next();

    /// Number of the line that next() returned last.
    std::size_t number() const noexcept { return number_; }

    /// InvalidArgument about the present line, or about the line of the given number.
    tl::unexpected<Error> complain(std::string_view what) const;
    tl::unexpected<Error> complain_at(std::size_t line, std::string_view what) const;

private:
    std::string_view rest_;
    std::string_view source_;
    std::size_t number_ = 0;
};

/// What stands between runs of white space.
std::vector<std::string_view> split_fields(std::string_view line);
/// What stands between single separators, empty pieces included.
std::vector<std::string_view> split_at(std::string_view line, char separator);
/// Without the white space at both ends.
std::string_view trimmed(std::string_view text);

/// Whether `text` can stand as one field of a line: not empty, without white space and NUL.
bool is_word(std::string_view text);

/// `"text"`, cut if long: a piece of a file as messages show it.
std::string shown(std::string_view text);

}  // namespace braid::eval
