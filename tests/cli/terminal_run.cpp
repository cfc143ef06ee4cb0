#include "cli/terminal_run.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace braid::testing {
namespace {

[[noreturn]] void run_there(const char* terminal, std::vector<char*>& words,
                            std::vector<char*>& variables) {
    ::setsid();
    const int descriptor = ::open(terminal, O_RDWR);
    if (descriptor < 0) ::_exit(126);
    winsize size{};
    size.ws_col = 80;
    size.ws_row = 24;
    ::ioctl(descriptor, TIOCSWINSZ, &size);
    for (int standard = 0; standard < 3; ++standard) ::dup2(descriptor, standard);
    ::execve(words.front(), words.data(), variables.data());
    ::_exit(127);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> out;
    out.reserve(texts.size() + 1);
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

/// All that is written to the terminal, with line feeds alone at the ends of lines.
std::string all_of(int terminal) {
    std::string text;
    std::array<char, 4096> part{};
    while (true) {
        const ssize_t count = ::read(terminal, part.data(), part.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;  // EIO: nobody has it open any more
        text.append(part.data(), static_cast<std::size_t>(count));
    }
    std::erase(text, '\r');
    return text;
}

}  // namespace

RunResult run_on_terminal(const std::vector<std::string>& arguments,
                          const std::vector<std::pair<std::string, std::string>>& environment) {
    std::vector<std::string> words{BRAID_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "TERM=xterm",
                                       "NO_COLOR=1", "BRAID_EMBEDDER=none"};
    for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
    std::vector<char*> argv = pointers_to(words);
    std::vector<char*> envp = pointers_to(variables);
    RunResult result;
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    std::array<char, 128> name{};
    if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0 ||
        ::ptsname_r(terminal, name.data(), name.size()) != 0) {
        ADD_FAILURE() << "no terminal";
        return result;
    }
    const pid_t process = ::fork();
    if (process == 0) run_there(name.data(), argv, envp);
    result.output = all_of(terminal);
    int status = 0;
    ::waitpid(process, &status, 0);
    ::close(terminal);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

}  // namespace braid::testing
