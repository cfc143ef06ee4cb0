#include "braid/segment/distinct.hpp"

#include <algorithm>
#include <utility>

#include "braid/core/limits.hpp"

namespace braid::segment {
namespace {

class SortedStrings final : public Ascending {
public:
    explicit SortedStrings(std::vector<std::string_view> strings) : strings_(std::move(strings)) {
        std::ranges::sort(strings_);
        strings_.erase(std::ranges::unique(strings_).begin(), strings_.end());
    }
    Result<bool> next() override { return next_ < strings_.size() ? ++next_ > 0 : false; }
    std::string_view text() const noexcept override { return strings_[next_ - 1]; }
    std::optional<std::uint64_t> size() const noexcept override { return strings_.size(); }

private:
    std::vector<std::string_view> strings_;
    std::size_t next_ = 0;
};

/// The string a list has reached. Its first bytes as a number decide most comparisons.
struct Head {
    std::string_view text;
    Ascending* list = nullptr;
    std::uint64_t key = 0;

    explicit Head(Ascending& of) : text(of.text()), list(&of) {
        for (std::size_t i = 0; i < sizeof(key); ++i) {
            key = key << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
        }
    }
    friend bool operator<(const Head& a, const Head& b) noexcept {
        return a.key != b.key ? a.key < b.key : a.text < b.text;
    }
    friend bool operator==(const Head& a, const Head& b) noexcept {
        return a.key == b.key && a.text == b.text;
    }
};

}  // namespace

AscendingPtr ascending(std::vector<std::string_view> strings) {
    return std::make_unique<SortedStrings>(std::move(strings));
}

Result<std::uint64_t> count_distinct(std::vector<AscendingPtr> lists, const CallLimits& limits) {
    if (lists.empty()) return 0;
    if (lists.size() == 1) {
        if (const auto size = lists.front()->size()) return *size;
    }
    std::vector<Head> heads;  // the smallest at the end
    // The list that gave the smallest string usually gives the next one too, so the search starts
    // at that end.
    const auto advance = [&](Ascending& list) -> Result<> {
        BRAID_TRY(const bool more, list.next());
        if (!more) return {};
        const Head head(list);
        auto place = heads.end();
        while (place != heads.begin() && *std::prev(place) < head) --place;
        heads.insert(place, head);
        return {};
    };
    for (const AscendingPtr& list : lists) BRAID_CHECK(advance(*list));
    std::uint64_t distinct = 0;
    core::StepCounter steps;
    std::vector<Ascending*> equal;
    while (!heads.empty()) {
        if (steps.due()) BRAID_CHECK(core::check_limits(limits));
        ++distinct;
        const Head smallest = heads.back();
        equal.assign(1, smallest.list);
        heads.pop_back();
        while (!heads.empty() && heads.back() == smallest) {
            equal.push_back(heads.back().list);
            heads.pop_back();
        }
        for (Ascending* const list : equal) BRAID_CHECK(advance(*list));
    }
    return distinct;
}

}  // namespace braid::segment
