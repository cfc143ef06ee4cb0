#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace braid::sparse {

/// One chunk version that holds a term; `row` grows along a list.
struct Posting {
    std::uint32_t row = 0;
    double tf = 0;  // weighted over the text fields
};

/// Terms to posting lists, in memory, append only. Readers and the one writer must be kept apart by
/// the caller.
class MemoryPostings {
public:
    /// Adds the term frequencies of a row larger than every row added before.
    void add(std::uint32_t row, const std::vector<std::pair<std::string, double>>& frequencies);

    /// Empty if no row holds the term.
    const std::vector<Posting>& find(std::string_view term) const noexcept;

    /// Gives every row its new number and drops those whose new number is the largest possible one.
    /// The order of the rows must stay.
    void renumber(const std::vector<std::uint32_t>& numbers);

    std::size_t terms() const noexcept { return lists_.size(); }
    auto begin() const noexcept { return lists_.begin(); }
    auto end() const noexcept { return lists_.end(); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>()(text);
        }
    };
    std::unordered_map<std::string, std::vector<Posting>, Hash, std::equal_to<>> lists_;
};

}  // namespace braid::sparse
