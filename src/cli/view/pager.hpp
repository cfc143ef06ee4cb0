#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace braid::cli {

/// The command that pages long output, chosen as git does: BRAID_PAGER, else PAGER, else `less` if
/// it is installed. Empty: none; `cat` counts as none too.
std::string pager_command(
    const std::function<std::optional<std::string>(std::string_view)>& variable);

/// While it lives, the pager shows whatever goes to standard output, and to standard error if that
/// is a terminal too. Its destructor waits until the reader is done.
class Pager {
public:
    /// Runs `command` as the shell would; with LESS=FRX and LV=-c unless they are set: output that
    /// fits the screen is not paged, colours work, and what was shown stays. If no process can be
    /// started, the output goes where it went before.
    explicit Pager(const std::string& command);
    ~Pager();
    Pager(const Pager&) = delete;
    Pager& operator=(const Pager&) = delete;

    /// -1 if there is none.
    pid_t process() const noexcept { return process_; }

private:
    pid_t process_ = -1;
    int output_ = -1;  // where standard output went before
    int errors_ = -1;
};

}  // namespace braid::cli
