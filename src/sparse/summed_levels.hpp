#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace braid::sparse {

/// Sums by key, in sorted runs that never change: adding a run merges it with those no longer than
/// itself, so there are few, and a copy shares them all. `Entry` has key(), and add() for an equal
/// key.
template <class Entry>
class SummedLevels {
public:
    /// Requires entries in increasing order of their keys, each once.
    void add(std::span<const Entry> entries) {
        if (entries.empty()) return;
        std::vector<Entry> run(entries.begin(), entries.end());
        while (!levels_.empty() && levels_.back()->size() <= run.size()) {
            run = merged(*levels_.back(), run);
            levels_.pop_back();
        }
        levels_.push_back(std::make_shared<const std::vector<Entry>>(std::move(run)));
    }

    /// Visits every entry; entries of one key lie in several runs and are visited one by one.
    template <class Visit>
    void each(const Visit& visit) const {
        for (const auto& level : levels_) {
            for (const Entry& entry : *level) visit(entry);
        }
    }
    /// In each run, those from the key of `first` on, as long as `visit` returns true.
    template <class Visit>
    void each_from(const Entry& first, const Visit& visit) const {
        for (const auto& level : levels_) {
            auto at = std::ranges::lower_bound(*level, first.key(), {},
                                               [](const Entry& entry) { return entry.key(); });
            while (at != level->end() && visit(*at)) ++at;
        }
    }

private:
    static std::vector<Entry> merged(std::span<const Entry> a, std::span<const Entry> b) {
        std::vector<Entry> out;
        out.reserve(a.size() + b.size());
        while (!a.empty() && !b.empty()) {
            const bool first = a.front().key() <= b.front().key();
            const bool both = a.front().key() == b.front().key();
            out.push_back(first ? a.front() : b.front());
            if (both) out.back().add(b.front());
            if (first) a = a.subspan(1);
            if (!first || both) b = b.subspan(1);
        }
        out.insert(out.end(), a.begin(), a.end());
        out.insert(out.end(), b.begin(), b.end());
        return out;
    }

    std::vector<std::shared_ptr<const std::vector<Entry>>> levels_;
};

}  // namespace braid::sparse
