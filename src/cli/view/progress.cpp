#include "braid/cli/view/progress.hpp"

#include <algorithm>
#include <string>

#include "braid/core/numbers.hpp"

namespace braid::cli {
namespace {

constexpr std::size_t kBarColumns = 24;
constexpr auto kRedraw = std::chrono::milliseconds(100);

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

void Progress::update(std::uint64_t chunks, std::uint64_t done,
                      std::optional<std::uint64_t> total) {
    if (every_ > 0 && chunks >= next_line_) {
        out_.note(core::count_of(chunks, "chunk", "chunks") + " stored");
        next_line_ = chunks - chunks % every_ + every_;
    }
    const auto now = Clock::now();
    if (!bar_ || now - drawn_ < kRedraw) return;
    drawn_ = now;
    draw(chunks, done, total);
}

void Progress::draw(std::uint64_t chunks, std::uint64_t done, std::optional<std::uint64_t> total) {
    std::string text;
    if (total && *total > 0) {
        const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(*total));
        text = bar_of(share) + " " + padded_left(std::to_string(static_cast<int>(share * 100)), 3) +
               "%  ";
    }
    const double elapsed = std::max(seconds(), 1e-3);
    text += core::count_of(chunks, "chunk", "chunks") + "  " +
            core::grouped(static_cast<std::uint64_t>(static_cast<double>(chunks) / elapsed)) + "/s";
    out_.status(text);
}

}  // namespace braid::cli
