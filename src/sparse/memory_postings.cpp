#include "braid/sparse/memory_postings.hpp"

#include <limits>

namespace braid::sparse {

void MemoryPostings::add(std::uint32_t row,
                         const std::vector<std::pair<std::string, double>>& frequencies) {
    for (const auto& [term, tf] : frequencies) {
        auto found = lists_.find(term);
        if (found == lists_.end()) found = lists_.emplace(term, std::vector<Posting>()).first;
        found->second.push_back({row, tf});
    }
}

void MemoryPostings::renumber(const std::vector<std::uint32_t>& numbers) {
    constexpr auto dropped = std::numeric_limits<std::uint32_t>::max();
    for (auto list = lists_.begin(); list != lists_.end();) {
        std::vector<Posting>& postings = list->second;
        for (Posting& posting : postings) posting.row = numbers[posting.row];
        std::erase_if(postings, [&](const Posting& posting) { return posting.row == dropped; });
        list = postings.empty() ? lists_.erase(list) : std::next(list);
    }
}

const std::vector<Posting>& MemoryPostings::find(std::string_view term) const noexcept {
    static const std::vector<Posting> kNone;
    const auto found = lists_.find(term);
    return found == lists_.end() ? kNone : found->second;
}

}  // namespace braid::sparse
