#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "braid/cli/view/output.hpp"

namespace braid::cli {

/// "8 s", "2:05 min", "1:02 h": how much longer it takes at the present rate.
std::string time_left(double elapsed_seconds, double share_done);

/// How far a long command has come: a bar on a terminal, and a line every so many chunks if asked
/// for.
class Progress {
public:
    /// `every` 0: no lines.
    Progress(Output& out, bool bar, std::uint64_t every);

    /// How far it has come.
    struct State {
        std::uint64_t chunks = 0;            // stored
        std::uint64_t bytes_done = 0;        // read
        std::optional<std::uint64_t> bytes;  // in all; none: unknown
        std::size_t files_done = 0;
        std::size_t files = 0;  // 0: they are not counted
    };

    void update(const State& state);
    void clear() { out_.status({}); }
    double seconds() const;

private:
    void draw(const State& state);

    using Clock = std::chrono::steady_clock;
    Output& out_;
    bool bar_;
    std::uint64_t every_;
    std::uint64_t next_line_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point drawn_{};
};

}  // namespace braid::cli
