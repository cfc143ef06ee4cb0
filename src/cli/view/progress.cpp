#include "braid/cli/view/progress.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "braid/core/numbers.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kBarColumns = 24;
constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr double kLeastElapsed = 1;  // seconds before a guess of the time left is worth showing

std::string bar_of(double share) {
    const auto full = static_cast<std::size_t>(share * static_cast<double>(kBarColumns));
    std::string bar;
    for (std::size_t i = 0; i < kBarColumns; ++i) bar += i < full ? "█" : "░";
    return bar;
}

}  // namespace

Progress::Progress(Output& out, bool bar, std::uint64_t every)
    : out_(out), bar_(bar), every_(every), next_line_(every) {}

double Progress::seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::update(const State& state) {
    if (every_ > 0 && state.chunks >= next_line_) {
        out_.note(core::count_of(state.chunks, "chunk", "chunks") + " stored");
        next_line_ = state.chunks - state.chunks % every_ + every_;
    }
    const auto now = Clock::now();
    if (!bar_ || now - drawn_ < kRedraw) return;
    drawn_ = now;
    draw(state);
}

void Progress::draw(const State& state) {
    const double elapsed = std::max(seconds(), 1e-3);
    std::string text;
    std::string left;
    if (state.bytes && *state.bytes > 0) {
        const double share = std::min(
            1.0, static_cast<double>(state.bytes_done) / static_cast<double>(*state.bytes));
        text = bar_of(share) + " " + padded_left(std::to_string(static_cast<int>(share * 100)), 3) +
               "%  ";
        if (elapsed >= kLeastElapsed && share > 0)
            left = "  " + time_left(elapsed, share) + " left";
    }
    if (state.files > 0) {
        text += core::grouped(state.files_done) + "/" +
                core::count_of(state.files, "file", "files") + "  ";
    }
    text += core::count_of(state.chunks, "chunk", "chunks") + "  " +
            core::grouped(static_cast<std::uint64_t>(static_cast<double>(state.chunks) / elapsed)) +
            "/s" + left;
    out_.status(text);
}

std::string time_left(double elapsed_seconds, double share_done) {
    const double seconds = elapsed_seconds * (1 - share_done) / share_done;
    const auto whole = static_cast<std::uint64_t>(std::min(std::ceil(seconds), 360'000.0));
    const auto two = [](std::uint64_t number) {
        return (number < 10 ? "0" : "") + std::to_string(number);
    };
    if (whole < 60) return std::to_string(whole) + " s";
    if (whole < 3600) return std::to_string(whole / 60) + ":" + two(whole % 60) + " min";
    return std::to_string(whole / 3600) + ":" + two(whole / 60 % 60) + " h";
}

}  // namespace braid::cli
