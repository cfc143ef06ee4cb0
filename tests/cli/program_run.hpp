#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace braid::testing {

/// How a test runs the program: never with the tester's own configuration.
struct RunOptions {
    std::string input{};   // standard input
    std::string folder{};  // working directory; empty: as is
    std::vector<std::pair<std::string, std::string>> environment{};
    std::string output_file{};  // standard output goes there instead ("/dev/full")
    bool nobody_reads = false;  // standard output is a pipe whose reader went away
};

struct RunResult {
    int exit_code = -1;  // 128 + signal if one ended the program
    std::string output;
    std::string errors;
};

/// Runs the `braid` program to its end. The input must fit a pipe (64 kB).
RunResult run_braid(const std::vector<std::string>& arguments, const RunOptions& options = {});

/// Three chunks, a JSON line each.
inline const std::string kAnimals =
    R"({"_id": "fox", "title": "Foxes", "text": "Red foxes hunt mice at dusk.", "metadata": {"year": 2020, "kind": "animal"}})"
    "\n"
    R"({"_id": "owl", "title": "Owls", "text": "Owls hunt mice at night.", "metadata": {"year": 2021, "kind": "animal"}})"
    "\n"
    R"({"_id": "oak", "title": "Oaks", "text": "Oaks are old trees.", "metadata": {"year": 1990, "kind": "plant"}})"
    "\n";

/// Whether `text` holds `part`.
inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// The program as it runs: feed its input, wait for its output, send it signals.
class RunningBraid {
public:
    explicit RunningBraid(const std::vector<std::string>& arguments,
                          const RunOptions& options = {});
    ~RunningBraid();
    RunningBraid(const RunningBraid&) = delete;
    RunningBraid& operator=(const RunningBraid&) = delete;

    void write(const std::string& text) const;
    void close_input();
    /// Reads on; nullopt at the end of the output.
    std::optional<std::string> read_line();
    void signal(int number) const;
    /// Closes the input and collects the rest of the output.
    RunResult finish();

private:
    pid_t process_ = -1;
    int input_ = -1;
    int output_ = -1;
    std::string errors_file_;
    std::string pending_;
};

}  // namespace braid::testing
