#include "braid/text/stop_words.hpp"

#include <algorithm>
#include <array>

namespace braid::text {

bool is_english_stop_word(std::string_view word) noexcept {
    // Articles, prepositions, conjunctions, pronouns, forms of be, do and have, question words.
    // Negations and words with a second, rarer sense ("can", "will", "may", "us") are kept.
    static constexpr auto kWords = std::to_array<std::string_view>({
        "a",     "about", "am",     "an",    "and",  "are",   "as",    "at",   "be",   "been",
        "being", "but",   "by",     "did",   "do",   "does",  "doing", "for",  "from", "had",
        "has",   "have",  "having", "he",    "her",  "his",   "how",   "i",    "if",   "in",
        "into",  "is",    "it",     "its",   "me",   "my",    "of",    "on",   "or",   "our",
        "she",   "so",    "such",   "than",  "that", "the",   "their", "them", "then", "there",
        "these", "they",  "this",   "those", "to",   "was",   "we",    "were", "what", "when",
        "where", "which", "while",  "who",   "whom", "whose", "why",   "with", "you",  "your",
    });
    static_assert(std::ranges::is_sorted(kWords));
    return std::ranges::binary_search(kWords, word);
}

}  // namespace braid::text
