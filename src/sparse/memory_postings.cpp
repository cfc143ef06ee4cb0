#include "braid/sparse/memory_postings.hpp"

#include <limits>

namespace braid::sparse {

std::uint32_t MemoryPostings::intern(const std::string& term) {
    if (const auto found = lists_.find(term); found != lists_.end()) return found->second.number;
    const auto number = static_cast<std::uint32_t>(entries_.size());
    Entry* entry = nullptr;
    {
        const std::scoped_lock lock(mutex_);
        entry = &*lists_.try_emplace(term).first;
        entry->second.number = number;
    }
    entries_.push_back(entry);
    return number;
}

void MemoryPostings::add_forward(std::uint32_t row, std::span<const std::uint32_t> terms) {
    forward_ends_.resize(row, forward_.size());  // rows between that hold no terms
    forward_.insert(forward_.end(), terms.begin(), terms.end());
    forward_ends_.push_back(forward_.size());
}

std::span<const std::uint32_t> MemoryPostings::terms_of(std::uint32_t row) const noexcept {
    if (row >= forward_ends_.size()) return {};
    const std::size_t begin = row == 0 ? 0 : forward_ends_[row - 1];
    return std::span(forward_).subspan(begin, forward_ends_[row] - begin);
}

void MemoryPostings::add(std::uint32_t row, std::span<const TermCount> counts) {
    std::vector<std::uint32_t> terms;
    const std::string* before = nullptr;
    for (const TermCount& one : counts) {
        if (before == nullptr || *before != one.term) terms.push_back(intern(one.term));
        before = &one.term;
        entries_[terms.back()]->second.push_back({row, one.field, one.count});
    }
    add_forward(row, terms);
}

void MemoryPostings::add_copy(std::uint32_t row, std::uint32_t of) {
    const auto held = terms_of(of);
    const std::vector<std::uint32_t> terms(held.begin(), held.end());
    for (const std::uint32_t term : terms) {
        PostingList& list = entries_[term]->second;
        std::vector<Posting> copied;
        for (auto posting = list.find(of); posting != PostingList::end() && posting->row == of;
             ++posting) {
            copied.push_back({row, posting->field, posting->count});
        }
        for (const Posting& posting : copied) list.push_back(posting);
    }
    add_forward(row, terms);
}

void MemoryPostings::add_renumbered(const MemoryPostings& other,
                                    const std::vector<std::uint32_t>& numbers) {
    constexpr auto dropped = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> fresh(other.terms(), dropped);
    for (std::size_t term = 0; term < fresh.size(); ++term) {
        for (const Posting& posting : other.entries_[term]->second) {
            const std::uint32_t row = numbers[posting.row];
            if (row == dropped) continue;
            if (fresh[term] == dropped) fresh[term] = intern(other.entries_[term]->first);
            entries_[fresh[term]]->second.push_back({row, posting.field, posting.count});
        }
    }
    std::vector<std::uint32_t> terms;
    for (std::uint32_t row = 0; row < numbers.size(); ++row) {
        if (numbers[row] == dropped) continue;
        terms.clear();
        for (const std::uint32_t term : other.terms_of(row)) terms.push_back(fresh[term]);
        add_forward(numbers[row], terms);
    }
}

const PostingList& MemoryPostings::find(std::string_view term) const {
    static const PostingList kNone;
    const std::scoped_lock lock(mutex_);
    const auto found = lists_.find(term);
    return found == lists_.end() ? kNone : found->second;
}

}  // namespace braid::sparse
