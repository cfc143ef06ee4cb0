#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace braid::cli {

/// The command that shows long output, as git chooses it: BRAID_PAGER, else PAGER, else `less` if
/// there is one. Empty: none; `cat` is none too.
std::string pager_command(
    const std::function<std::optional<std::string>(std::string_view)>& variable);

/// While it lives, what goes to standard output, and to standard error if that is a terminal too,
/// is shown by the pager. Its end waits until the reader is done.
class Pager {
public:
    /// As the shell runs `command`; with LESS=FRX and LV=-c unless they are set: nothing is paged
    /// that fits the screen, colours work, and what was shown stays. Without a process for it the
    /// output goes where it went.
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
