#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "braid/cli/view/output.hpp"

namespace braid::cli {

/// How far a long command has come: a bar on a terminal, and a line every so many chunks if asked.
class Progress {
public:
    /// `every` 0: no lines.
    Progress(Output& out, bool bar, std::uint64_t every);

    /// `done` of `total` bytes were read (none: unknown), `chunks` are stored.
    void update(std::uint64_t chunks, std::uint64_t done, std::optional<std::uint64_t> total);
    void clear() { out_.status({}); }
    double seconds() const;

private:
    void draw(std::uint64_t chunks, std::uint64_t done, std::optional<std::uint64_t> total);

    using Clock = std::chrono::steady_clock;
    Output& out_;
    bool bar_;
    std::uint64_t every_;
    std::uint64_t next_line_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point drawn_{};
};

}  // namespace braid::cli
