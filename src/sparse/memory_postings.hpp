#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "braid/core/stable_vector.hpp"
#include "braid/sparse/posting_list.hpp"

namespace braid::sparse {

/// Terms to posting lists, in memory, append only. One thread at a time may add while any number of
/// others read: a reader holds a lock for as long as it takes to look up one term.
class MemoryPostings {
public:
    using Entry = std::pair<const std::string, PostingList>;

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

    /// Adds the term frequencies of a row larger than every row added before.
    void add(std::uint32_t row, const std::vector<std::pair<std::string, double>>& frequencies);
    /// Adds the postings of another index under new row numbers, and leaves out those whose new
    /// number is the largest possible one. The order of the rows must stay. Requires that this one
    /// is empty.
    void add_renumbered(const MemoryPostings& other, const std::vector<std::uint32_t>& numbers);

    /// Empty if no row holds the term. It stays where it is, and grows.
    const PostingList& find(std::string_view term) const;

    std::size_t terms() const noexcept { return entries_.size(); }
    /// The terms that there were when end() was called, in the order in which they came.
    Iterator begin() const noexcept { return {*this, 0}; }
    Iterator end() const noexcept { return {*this, terms()}; }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>()(text);
        }
    };
    PostingList& list_of(const std::string& term);

    mutable std::mutex mutex_;  // of lists_, as a map; the writer reads it without
    std::unordered_map<std::string, PostingList, Hash, std::equal_to<>> lists_;
    core::StableVector<const Entry*> entries_;
};

}  // namespace braid::sparse
