#include "braid/cli/view/output.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include <unistd.h>

#include "braid/json/json.hpp"

namespace braid::cli {
namespace {

bool wants_colors() {
    // NOLINTBEGIN(concurrency-mt-unsafe): start-up
    const char* const no_color = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    // NOLINTEND(concurrency-mt-unsafe)
    return (no_color == nullptr || *no_color == '\0') &&
           (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace

Output::Output(bool colors)
    : width_(terminal_width(STDOUT_FILENO)),
      note_width_(terminal_width(STDERR_FILENO)),
      on_terminal_(::isatty(STDOUT_FILENO) == 1),
      notes_on_terminal_(::isatty(STDERR_FILENO) == 1) {
    const bool allowed = colors && wants_colors();
    style_ = allowed && on_terminal_ ? Style::colors() : Style::none();
    note_style_ = allowed && notes_on_terminal_ ? Style::colors() : Style::none();
}

void Output::write(std::string_view text) {
    if (text.empty()) return;  // may point nowhere
    if (broken_pipe_ || write_error_ != 0) return;
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return;
    broken_pipe_ = errno == EPIPE;
    if (!broken_pipe_) write_error_ = errno;
}

void Output::line(std::string_view text) {
    write(text);
    write("\n");
}

void Output::json(const Value& value) {
    line(on_terminal_ ? json::print_pretty(value) : json::print(value));
}

void Output::flush() {
    if (broken_pipe_ || write_error_ != 0) return;
    if (std::fflush(stdout) == 0) return;
    broken_pipe_ = errno == EPIPE;
    if (!broken_pipe_) write_error_ = errno;
}

void Output::note(std::string_view text) {
    status({});
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fputc('\n', stderr);
}

void Output::status(std::string_view text) {
    if (!notes_on_terminal_ || (text.empty() && !has_status_)) return;
    const std::string shown = "\r\x1b[2K" + clipped(text, note_width_ - 1);
    std::fwrite(shown.data(), 1, shown.size(), stderr);
    std::fflush(stderr);
    has_status_ = !text.empty();
}

Result<> Output::finish() {
    status({});
    flush();
    if (write_error_ != 0) {
        return fail(ErrorCode::IoError, "cannot write to standard output: " +
                                            std::generic_category().message(write_error_));
    }
    return {};
}

}  // namespace braid::cli
