#include "braid/sparse/window_scratch.hpp"

#include <memory>

namespace braid::sparse {

void WindowScratch::begin(const QueryBounds& bounds) noexcept {
    for (std::size_t i = 0; i < bounds.terms().size(); ++i) {
        runs[i] = {bounds.terms()[i].run_begin, bounds.terms()[i].run_begin};
    }
    of = &bounds;
    entered = 0;
}

void WindowScratch::enter(const QueryBounds& bounds, const WindowSpan& window) noexcept {
    if (of != &bounds || window.base < entered) begin(bounds);
    entered = window.base;
    const auto rows = bounds.run_rows();
    for (std::size_t i = 0; i < bounds.terms().size(); ++i) {
        const BoundedTerm& term = bounds.terms()[i];
        if (term.run_end == term.run_begin) continue;
        std::uint32_t begin = runs[i].begin;
        while (begin < term.run_end && rows[begin] < window.base) ++begin;
        std::uint32_t end = begin;
        while (end < term.run_end && rows[end] - window.base < kWindowRows) ++end;
        runs[i] = {begin, end};
    }
}

WindowScratch& thread_scratch() {
    // On the heap: too large for thread-local storage.
    thread_local const std::unique_ptr<WindowScratch> scratch = std::make_unique<WindowScratch>();
    return *scratch;
}

}  // namespace braid::sparse
