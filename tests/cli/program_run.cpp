#include "cli/program_run.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace braid::testing {
namespace {

std::string temporary_file() {
    std::string name = (std::filesystem::temp_directory_path() / "braid_out_XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    EXPECT_GE(descriptor, 0);
    ::close(descriptor);
    return name;
}

std::string content_of(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::string> environment_of(const RunOptions& options) {
    std::vector<std::string> out{"PATH=/usr/bin:/bin", "HOME=/nonexistent", "TERM=dumb"};
    // Sanitizers and coverage need theirs.
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "BRAID_MODELS"}) {
        const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): unchanged
        if (value != nullptr) out.push_back(std::string(name) + "=" + value);
    }
    // Words only, unless a test asks for a model: a model takes time to load, and may be missing.
    const auto is_embedder = [](const auto& pair) { return pair.first == "BRAID_EMBEDDER"; };
    if (std::ranges::none_of(options.environment, is_embedder)) {
        out.emplace_back("BRAID_EMBEDDER=none");
    }
    for (const auto& [name, value] : options.environment) {
        out.emplace_back(name).append("=").append(value);
    }
    return out;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> out;
    out.reserve(strings.size() + 1);
    for (std::string& text : strings) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

int exit_code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

RunningBraid::RunningBraid(const std::vector<std::string>& arguments, const RunOptions& options)
    : errors_file_(temporary_file()) {
    std::vector<std::string> words{BRAID_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables = environment_of(options);
    const std::vector<char*> argv = pointers(words);
    const std::vector<char*> envp = pointers(variables);
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
    if (options.nobody_reads)
        ::close(std::exchange(out[0], ::open("/dev/null", O_RDONLY | O_CLOEXEC)));
    process_ = ::fork();
    if (process_ == 0) {
        const int errors = ::open(errors_file_.c_str(), O_WRONLY | O_TRUNC);
        const int output =
            options.output_file.empty() ? out[1] : ::open(options.output_file.c_str(), O_WRONLY);
        if (errors < 0 || output < 0) ::_exit(126);
        ::dup2(in[0], STDIN_FILENO);
        ::dup2(output, STDOUT_FILENO);
        ::dup2(errors, STDERR_FILENO);
        if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(126);
        ::execve(argv[0], argv.data(), envp.data());
        ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    input_ = in[1];
    output_ = out[0];
}

RunningBraid::~RunningBraid() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    close_input();
    if (output_ >= 0) ::close(output_);
    std::error_code ignored;
    std::filesystem::remove(errors_file_, ignored);
}

void RunningBraid::write(const std::string& text) const {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = ::write(input_, text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;  // the program went away
        done += static_cast<std::size_t>(count);
    }
}

void RunningBraid::close_input() {
    if (input_ >= 0) ::close(input_);
    input_ = -1;
}

std::optional<std::string> RunningBraid::read_line() {
    while (true) {
        const std::size_t end = pending_.find('\n');
        if (end != std::string::npos) {
            std::string line = pending_.substr(0, end);
            pending_.erase(0, end + 1);
            return line;
        }
        std::array<char, 4096> block{};
        const ssize_t count = ::read(output_, block.data(), block.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return std::nullopt;
        pending_.append(block.data(), static_cast<std::size_t>(count));
    }
}

void RunningBraid::signal(int number) const {
    ::kill(process_, number);
}

RunResult RunningBraid::finish() {
    close_input();
    RunResult result;
    while (const auto line = read_line()) result.output += *line + "\n";
    result.output += pending_;
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    result.exit_code = exit_code_of(status);
    result.errors = content_of(errors_file_);
    return result;
}

RunResult run_braid(const std::vector<std::string>& arguments, const RunOptions& options) {
    std::signal(SIGPIPE, SIG_IGN);
    RunningBraid running(arguments, options);
    running.write(options.input);
    return running.finish();
}

}  // namespace braid::testing
