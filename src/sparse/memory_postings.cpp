#include "braid/sparse/memory_postings.hpp"

#include <limits>

namespace braid::sparse {

PostingList& MemoryPostings::list_of(const std::string& term) {
    if (const auto found = lists_.find(term); found != lists_.end()) return found->second;
    const std::scoped_lock lock(mutex_);
    return lists_.try_emplace(term).first->second;
}

void MemoryPostings::add(std::uint32_t row,
                         const std::vector<std::pair<std::string, double>>& frequencies) {
    for (const auto& [term, tf] : frequencies) {
        PostingList& list = list_of(term);
        const bool fresh = list.empty();
        list.push_back({row, tf});
        if (fresh) entries_.push_back(&*lists_.find(term));
    }
}

void MemoryPostings::add_renumbered(const MemoryPostings& other,
                                    const std::vector<std::uint32_t>& numbers) {
    constexpr auto dropped = std::numeric_limits<std::uint32_t>::max();
    for (const auto& [term, postings] : other) {
        PostingList* list = nullptr;
        for (const Posting& posting : postings) {
            const std::uint32_t row = numbers[posting.row];
            if (row == dropped) continue;
            if (list == nullptr) list = &list_of(term);
            list->push_back({row, posting.tf});
        }
        if (list != nullptr) entries_.push_back(&*lists_.find(term));
    }
}

const PostingList& MemoryPostings::find(std::string_view term) const {
    static const PostingList kNone;
    const std::scoped_lock lock(mutex_);
    const auto found = lists_.find(term);
    return found == lists_.end() ? kNone : found->second;
}

}  // namespace braid::sparse
