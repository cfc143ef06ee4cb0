#include "braid/cli/view/pager.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <stdio_ext.h>
#include <sys/wait.h>
#include <unistd.h>

namespace braid::cli {
namespace {

constexpr int kNotStarted = 127;

/// Whether a folder of PATH holds the program.
bool is_installed(const std::string& program, std::string_view path) {
    while (!path.empty()) {
        const std::size_t colon = path.find(':');
        const std::string place = std::string(path.substr(0, colon)) + "/" + program;
        if (::access(place.c_str(), X_OK) == 0) return true;
        path = colon == std::string_view::npos ? std::string_view() : path.substr(colon + 1);
    }
    return false;
}

[[noreturn]] void become_pager(const std::string& command, int input) {
    ::dup2(input, STDIN_FILENO);
    ::close(input);
    // NOLINTBEGIN(concurrency-mt-unsafe): the child has one thread
    ::setenv("LESS", "FRX", 0);
    ::setenv("LV", "-c", 0);
    // NOLINTEND(concurrency-mt-unsafe)
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): POSIX
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(kNotStarted);
}

void take_back(int& kept, int descriptor) {
    if (kept < 0) return;
    ::dup2(kept, descriptor);
    ::close(kept);
    kept = -1;
}

}  // namespace

std::string pager_command(
    const std::function<std::optional<std::string>(std::string_view)>& variable) {
    auto command = variable("BRAID_PAGER");
    if (!command) command = variable("PAGER");
    if (!command) command = is_installed("less", variable("PATH").value_or("")) ? "less" : "";
    return *command == "cat" ? "" : *command;
}

Pager::Pager(const std::string& command) {
    std::array<int, 2> pipe{};
    if (command.empty() || ::pipe(pipe.data()) != 0) return;
    std::fflush(stdout);
    std::fflush(stderr);
    process_ = ::fork();
    if (process_ == 0) {
        ::close(pipe[1]);
        become_pager(command, pipe[0]);
    }
    ::close(pipe[0]);
    if (process_ > 0) {
        output_ = ::dup(STDOUT_FILENO);
        ::dup2(pipe[1], STDOUT_FILENO);
        if (::isatty(STDERR_FILENO) == 1) {
            errors_ = ::dup(STDERR_FILENO);
            ::dup2(pipe[1], STDERR_FILENO);
        }
    }
    ::close(pipe[1]);
}

Pager::~Pager() {
    if (process_ <= 0) return;
    // Output that nobody has read must not follow on the terminal.
    if (std::fflush(stdout) != 0) ::__fpurge(stdout);
    std::fflush(stderr);
    // Both of this process's ends of the pipe, so that the pager sees the end.
    take_back(output_, STDOUT_FILENO);
    take_back(errors_, STDERR_FILENO);
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace braid::cli
