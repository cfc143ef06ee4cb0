#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "braid/index/view.hpp"
#include "braid/index/word_tree.hpp"

namespace braid::index {

/// What a tree makes of a chunk.
struct Verdict {
    enum class Match { No, Perhaps, Yes };

    Match match = Match::No;
    double score = 0;
    /// Its score. Unless `sure`, and unless a weight is negative, an upper bound: phrases have to
    /// be looked for in the text.
    bool sure = true;
};

/// What is known of a chunk.
struct ChunkWords {
    /// How often each text field holds each term of TreeScorer::terms(), field by field.
    std::span<const std::uint32_t> counts;
    double length = 0;  // weighted
    /// Their positions, in the same order; empty: not known.
    std::span<const std::span<const std::uint32_t>> positions{};
    /// For phrases, if positions are not known. Null: the text is not at hand either, so phrases
    /// are Perhaps.
    const Chunk* chunk = nullptr;

    bool knows_phrases() const noexcept { return !positions.empty() || chunk != nullptr; }
};

/// A query in the query language with the statistics that weigh it: which chunks it finds, and how
/// they score.
///
/// A word scores as in plain queries; restricted to a field, by how often the field has it. A
/// pattern scores as one word as frequent as its most frequent term, with terms that differ in n
/// characters counting 1 / (1 + n). A phrase scores as a word with the combined weight of its
/// words, occurring as often as the phrase does.
class TreeScorer {
public:
    /// A pattern searches this many terms: the most frequent ones.
    static constexpr std::size_t kMostPatternTerms = 64;

    struct Alternative {
        std::uint32_t term = 0;  // in terms()
        double weight = 1;       // of its count
    };
    struct Leaf {
        std::vector<std::vector<Alternative>> places;
        std::vector<double> place_weights;  // the boost times the idf of each
        double weight = 0;                  // their sum
        std::vector<std::uint32_t> offsets;
        std::vector<std::uint32_t> same;  // see Phrase
        /// For each distinct word, its first place and how many places have it.
        std::vector<std::pair<std::uint32_t, std::uint32_t>> words;
        std::uint32_t between = 0;
        std::optional<std::uint32_t> field;
        double boost = 1;

        bool is_phrase() const noexcept { return places.size() > 1; }
    };
    struct Clause {
        QueryClause::Occur occur = QueryClause::Occur::Optional;
        std::optional<std::size_t> leaf;  // in leaves(); none: a group
        std::vector<Clause> clauses;
    };

    /// `mean_idf`: Okapi's, over every term. Patterns are looked up in the statistics, which must
    /// hold every matching term.
    TreeScorer(std::shared_ptr<const WordTree> tree, const TextStatistics& statistics,
               std::optional<double> mean_idf);

    const std::vector<std::string>& terms() const noexcept { return terms_; }
    const std::vector<Leaf>& leaves() const noexcept { return leaves_; }
    const Clause& root() const noexcept { return root_; }
    const std::vector<PatternWords>& patterns() const noexcept { return patterns_; }
    bool has_phrases() const noexcept;

    Verdict evaluate(const ChunkWords& words) const;

    /// Words whose plain search gives every chunk that the tree finds its score or a higher one.
    /// None if a weight is negative.
    struct Bound {
        std::vector<QueryTerm> words;
        bool exact = false;  // gives the score itself, for every chunk found
    };
    std::optional<Bound> bound() const;

private:
    struct Reading;

    double idf(std::uint64_t df) const noexcept;
    std::uint32_t number_of(const std::string& term);
    Clause add(const TreeClause& clause, const TextStatistics& statistics);
    std::size_t add_leaf(const TreeLeaf& leaf, const TextStatistics& statistics);
    std::vector<Alternative> expand(const TreeLeaf& leaf, const TextStatistics& statistics);
    std::uint64_t frequency(std::uint32_t term) const noexcept { return frequencies_[term]; }

    double weighted_count(const std::vector<Alternative>& place, std::size_t field,
                          const ChunkWords& words) const noexcept;
    Verdict evaluate(const Clause& clause, Reading& reading) const;
    Verdict evaluate(const Leaf& leaf, Reading& reading) const;
    double count_in(const Leaf& leaf, std::size_t field, Reading& reading) const;
    std::uint32_t count_phrase_in(const Leaf& leaf, std::size_t field, Reading& reading) const;
    void read_text(std::size_t field, Reading& reading) const;

    std::shared_ptr<const WordTree> tree_;
    std::uint64_t chunks_ = 0;
    double average_ = 0;
    double mean_idf_ = 0;
    std::vector<std::string> terms_;
    std::unordered_map<std::string, std::uint32_t> numbers_;  // in terms_
    std::vector<std::uint64_t> frequencies_;                  // of terms_
    std::vector<Leaf> leaves_;
    Clause root_;
    std::vector<PatternWords> patterns_;
};

}  // namespace braid::index
