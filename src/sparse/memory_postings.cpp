#include "braid/sparse/memory_postings.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace braid::sparse {

namespace {

std::uint32_t hash_of(std::string_view term) noexcept {
    return static_cast<std::uint32_t>(std::hash<std::string_view>()(term));
}

}  // namespace

std::size_t MemoryPostings::slot_of(std::uint32_t hash, std::string_view term) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    for (; slots_[at].entry != nullptr; at = (at + 1) & mask) {
        if (slots_[at].hash == hash && slots_[at].entry->first == term) break;
    }
    return at;
}

void MemoryPostings::grow() {
    constexpr std::size_t kFirst = 1024;
    std::vector<Slot> larger(std::max(kFirst, 2 * slots_.size()));
    for (const Slot& slot : slots_) {
        if (slot.entry == nullptr) continue;
        std::size_t at = slot.hash & (larger.size() - 1);
        while (larger[at].entry != nullptr) at = (at + 1) & (larger.size() - 1);
        larger[at] = slot;
    }
    const std::scoped_lock lock(mutex_);
    slots_.swap(larger);
}

std::uint32_t MemoryPostings::intern(std::uint32_t hash, const std::string& term) {
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    Slot& slot = slots_[slot_of(hash, term)];
    if (slot.entry != nullptr) return slot.entry->second.number;
    auto entry = std::make_unique<Entry>(std::piecewise_construct, std::forward_as_tuple(term),
                                         std::forward_as_tuple());
    const auto number = static_cast<std::uint32_t>(entries_.size());
    entry->second.number = number;
    {
        const std::scoped_lock lock(mutex_);
        slot = {hash, entry.get()};
    }
    entries_.push_back(std::move(entry));
    return number;
}

void MemoryPostings::add_forward(std::uint32_t row, std::span<const std::uint32_t> terms) {
    forward_ends_.resize(row, forward_.size());  // rows in between hold no terms
    forward_.insert(forward_.end(), terms.begin(), terms.end());
    forward_ends_.push_back(forward_.size());
}

std::span<const std::uint32_t> MemoryPostings::terms_of(std::uint32_t row) const noexcept {
    if (row >= forward_ends_.size()) return {};
    const std::size_t begin = row == 0 ? 0 : forward_ends_[row - 1];
    return std::span(forward_).subspan(begin, forward_ends_[row] - begin);
}

void MemoryPostings::add(std::uint32_t row, std::span<const TermCount> counts) {
    // What is read for a term lies far apart and is rarely cached, so it is prefetched.
    constexpr std::size_t kAhead = 8;
    const std::size_t mask = slots_.empty() ? 0 : slots_.size() - 1;
    hashes_.resize(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        hashes_[i] = hash_of(counts[i].term);
        if (mask > 0) __builtin_prefetch(&slots_[hashes_[i] & mask]);
    }
    std::vector<std::uint32_t> terms;
    terms.reserve(counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (mask > 0 && i + kAhead < counts.size()) {
            const Entry* const next = slots_[hashes_[i + kAhead] & (slots_.size() - 1)].entry;
            __builtin_prefetch(next);
            __builtin_prefetch(reinterpret_cast<const char*>(next) + 64);  // NOLINT: never read
        }
        const TermCount& one = counts[i];
        if (i == 0 || counts[i - 1].term != one.term) terms.push_back(intern(hashes_[i], one.term));
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
        const std::string& text = other.entries_[term]->first;
        for (const Posting& posting : other.entries_[term]->second) {
            const std::uint32_t row = numbers[posting.row];
            if (row == dropped) continue;
            if (fresh[term] == dropped) fresh[term] = intern(hash_of(text), text);
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
    if (slots_.empty()) return kNone;
    const Slot& slot = slots_[slot_of(hash_of(term), term)];
    return slot.entry == nullptr ? kNone : slot.entry->second;
}

}  // namespace braid::sparse
