#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/retrieval/work.hpp"

namespace braid::retrieval {

/// What is compared of a text.
struct TextPrint {
    std::string hash;
    std::vector<std::size_t> shingles;  // of its words, three at a time; sorted, each once
};

/// Without `shingles` only equal texts are told.
TextPrint print_of(std::string_view text, bool shingles);

/// Whether the texts are equal, or share that part of all their runs of three words.
bool alike(const TextPrint& a, const TextPrint& b, double similarity);

/// Leaves one of near-identical passages of a document in a ranking: the best, whose receipt names
/// the others.
class CopiesOfDocuments {
public:
    /// Sees to it that the first `wanted` candidates, or all there are, are no copies of one
    /// another; fetches their chunks. Those it has looked at before must still be there. Ranks
    /// beyond the first 1,000 stay as they are.
    Result<> collapse(const Work& work, std::size_t wanted, std::vector<Candidate>& ranked);

private:
    static constexpr std::size_t kDeepest = 1000;
    static constexpr double kSimilarity = 0.9;

    struct Seen {
        std::size_t place = 0;  // in the ranking
        TextPrint print;        // made when a second chunk of the document is met
    };

    void take(std::size_t end, std::vector<Candidate>& ranked);
    bool is_copy(std::size_t place, std::vector<Candidate>& ranked);

    std::map<std::pair<std::size_t, std::string>, std::vector<Seen>> documents_;
    std::size_t distinct_ = 0;  // so many of the ranking have been looked at
};

}  // namespace braid::retrieval
