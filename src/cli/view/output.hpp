#pragma once

#include <cstddef>
#include <cstdio>
#include <string_view>

#include "braid/cli/view/terminal.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::cli {

/// Where a command writes: data to standard output, notes to standard error. A reader that has gone
/// away (a closed pipe) is not an error: the rest is dropped.
class Output {
public:
    /// `colors`: false forbids them, true allows them on a terminal.
    explicit Output(bool colors);

    void line(std::string_view text = {});
    /// Whole lines, as they are.
    void text(std::string_view lines) { write(lines); }
    /// One JSON value on one line; indented on a terminal.
    void json(const Value& value);
    void flush();

    /// A line on standard error, making a progress bar there move out of the way.
    void note(std::string_view text);
    /// Replaces the last line of standard error; empty removes it. Only on a terminal.
    void status(std::string_view text);

    const Style& style() const noexcept { return style_; }
    const Style& note_style() const noexcept { return note_style_; }
    std::size_t width() const noexcept { return width_; }
    bool on_terminal() const noexcept { return on_terminal_; }
    bool notes_on_terminal() const noexcept { return notes_on_terminal_; }

    bool broken_pipe() const noexcept { return broken_pipe_; }
    /// IoError if something could not be written, except to a closed pipe.
    Result<> finish();

private:
    void write(std::string_view text);

    Style style_;
    Style note_style_;
    std::size_t width_;
    std::size_t note_width_;
    bool on_terminal_;
    bool notes_on_terminal_;
    bool has_status_ = false;
    bool broken_pipe_ = false;
    int write_error_ = 0;
};

}  // namespace braid::cli
