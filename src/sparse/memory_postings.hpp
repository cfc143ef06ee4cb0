#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/core/stable_vector.hpp"
#include "braid/sparse/posting_list.hpp"

namespace braid::sparse {

/// How often a text field of a chunk holds a term.
struct TermCount {
    std::string term;
    std::uint32_t field = 0;  // index into the schema's text fields
    std::uint32_t count = 0;

    friend bool operator==(const TermCount&, const TermCount&) = default;
};

/// Terms to posting lists, in memory, append only. One thread at a time may add while any number of
/// others read: a reader holds a lock while it looks up one term.
class MemoryPostings {
public:
    struct NumberedList : PostingList {
        std::uint32_t number = 0;  // of its term, in the order in which they came
    };
    using Entry = std::pair<const std::string, NumberedList>;

    class Iterator {
    public:
        Iterator(const MemoryPostings& postings, std::size_t index) noexcept
            : postings_(&postings), index_(index) {}
        const Entry& operator*() const noexcept { return *postings_->entries_[index_]; }
        Iterator& operator++() noexcept {
            ++index_;
            return *this;
        }
        friend bool operator==(const Iterator&, const Iterator&) = default;

    private:
        const MemoryPostings* postings_;
        std::size_t index_;
    };

    /// Adds a row larger than every row added before. Requires counts ordered by term, then by
    /// field, without duplicates.
    void add(std::uint32_t row, std::span<const TermCount> counts);
    /// Adds a row larger than every row added before, with the terms of an existing one.
    void add_copy(std::uint32_t row, std::uint32_t of);
    /// Adds the postings of another index under new row numbers, leaving out rows whose new number
    /// is the largest possible one. The order of the rows must not change. Requires that this one
    /// is empty.
    void add_renumbered(const MemoryPostings& other, const std::vector<std::uint32_t>& numbers);

    /// Empty if no row holds the term. The list stays where it is, and grows.
    const PostingList& find(std::string_view term) const;

    std::size_t terms() const noexcept { return entries_.size(); }
    /// Calls `use(term, list)` for each term of a row. Must not run while rows are added.
    template <class Use>
    void for_each_term(std::uint32_t row, const Use& use) const {
        for (const std::uint32_t number : terms_of(row)) {
            const Entry& entry = *entries_[number];
            use(std::string_view(entry.first), entry.second);
        }
    }
    /// The terms present when end() was called, in order of arrival.
    Iterator begin() const noexcept { return {*this, 0}; }
    Iterator end() const noexcept { return {*this, terms()}; }

private:
    struct Slot {
        std::uint32_t hash = 0;
        Entry* entry = nullptr;
    };
    /// Where a term is, or would be put.
    std::size_t slot_of(std::uint32_t hash, std::string_view term) const noexcept;
    void grow();
    /// The number of a term; a new term is given one.
    std::uint32_t intern(std::uint32_t hash, const std::string& term);
    void add_forward(std::uint32_t row, std::span<const std::uint32_t> terms);
    std::span<const std::uint32_t> terms_of(std::uint32_t row) const noexcept;

    mutable std::mutex mutex_;  // of slots_; the writer reads them without
    std::vector<Slot> slots_;   // a power of two of them, at most half of them used
    core::StableVector<std::unique_ptr<Entry>> entries_;  // by number
    std::vector<std::uint32_t> hashes_;                   // of the row being added
    // The terms of each row, by number; the writer's.
    std::vector<std::uint32_t> forward_;
    std::vector<std::size_t> forward_ends_;
};

}  // namespace braid::sparse
