#pragma once

#include <string_view>
#include <unordered_set>

namespace braid::text {

/// Words of a language that hardly ever decide a search: articles, prepositions, conjunctions,
/// pronouns, forms of "be" and "have", question words. Negations are none, nor are words with a
/// second, rarer sense.
class StopWords {
public:
    /// By a language's full name. Those of a language without a list are none.
    static const StopWords& of(std::string_view language);

    bool empty() const noexcept { return words_.empty(); }
    /// Of a case-folded, composed word.
    bool has(std::string_view word) const { return words_.contains(word); }
    const std::unordered_set<std::string_view>& words() const noexcept { return words_; }

private:
    std::unordered_set<std::string_view> words_;
};

}  // namespace braid::text
