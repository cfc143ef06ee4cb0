#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/answer.hpp"
#include "braid/backend.hpp"
#include "braid/index/prepared.hpp"
#include "braid/result.hpp"

namespace braid::index {

/// A word of a query, and how often it occurs there.
struct QueryTerm {
    std::string term;
    double repeated = 1;

    friend bool operator==(const QueryTerm&, const QueryTerm&) = default;
};

/// The terms of a query in the order of their first occurrence, repetitions counted.
std::vector<QueryTerm> counted(std::span<const std::string> terms);

struct WordTree;  // word_tree.hpp

/// What to search for: analysed words, or a vector.
struct Query {
    LegKind kind = LegKind::Sparse;
    std::vector<std::vector<QueryTerm>> texts;  // Sparse: variants; a chunk keeps its best score
    std::shared_ptr<const WordTree> tree;       // Sparse: instead of texts
    std::vector<float> vector;                  // Dense
    /// Sparse: the statistics that weigh words; none: the view's own.
    std::shared_ptr<const TextStatistics> statistics;
    /// Sparse: supplies BM25 parameters and field weights; null: the view's own schema.
    std::shared_ptr<const Schema> scoring;
    /// Sparse, Okapi: the mean idf of all terms, if the statistics cover only a few.
    std::optional<double> mean_idf;
    bool exact = false;            // Dense: find exactly what an exhaustive search would
    double recall = kUsualRecall;  // Dense: otherwise, the share of that to find
    std::optional<LegHit> after;   // only hits that rank below it

    const Schema& scoring_or(const Schema& own) const noexcept { return scoring ? *scoring : own; }
};

/// Whether a hit ranks below another.
inline bool ranks_below(double score, std::string_view id, const LegHit& other) {
    return score != other.score ? score < other.score : id > other.chunk_id;
}

/// The best hits, by score, then by smaller id.
struct Ranking {
    std::vector<LegHit> hits;
    std::uint64_t matched = 0;    // chunks that match, whatever the depth and Query::after
    bool matched_exactly = true;  // false: a lower bound
    bool exact = true;            // false: hits that an exhaustive search finds may be missing
    std::string method;
    std::vector<PatternWords> patterns;  // of Query::tree
    /// For Query::texts: terms unknown to the statistics, each once.
    std::optional<std::vector<std::string>> absent;
};

/// A chunk, without its vector.
struct Found {
    std::shared_ptr<const Chunk> chunk;  // null if there is none

    explicit operator bool() const noexcept { return chunk != nullptr; }
};

/// What one principal sees of one namespace at one point in time, narrowed by the call's filter and
/// subject to its limits. Reading holds locks only for look-ups and delays no writer: a view keeps
/// what it shows, whatever is written meanwhile. One thread at a time.
///
/// Chunks that the principal may not see affect no answer. Every read that takes time checks the
/// limits now and then, and fails with DeadlineExceeded or Cancelled; what is copied into an answer
/// is first charged to its budget.
class View {
public:
    virtual ~View() = default;

    /// Filtered. InvalidArgument for a vector that cannot be compared with those here.
    virtual Result<Ranking> search(const Query& query, std::size_t depth) const = 0;
    /// Scores of named chunks, whatever the filter says; none for those that cannot be seen or have
    /// no vector. A chunk without any of the words scores 0.
    /// Where chunks were found is a hint, see Reader::score_found.
    virtual Result<std::vector<std::optional<double>>> score(
        const Query& query, std::span<const FoundChunk> chunks) const = 0;
    /// Ranks, from 1, in the whole filtered list.
    virtual Result<std::vector<std::optional<std::uint64_t>>> rank_of(
        const Query& query, std::span<const std::string> ids) const = 0;
    /// Ignores the filter, which decides who is found, not how rare a word is. `every_term`: not
    /// only those of the query.
    virtual Result<TextStatistics> text_statistics(const Query& query, bool every_term) const = 0;

    /// One entry per id, in order; none where there is no chunk that passes the filter.
    virtual Result<std::vector<std::optional<Chunk>>> fetch(std::span<const std::string> ids,
                                                            bool with_vectors) const = 0;
    /// Chunks `index - before` ... `index + after` of a document that pass the filter, by index.
    virtual Result<std::vector<Chunk>> neighbors(const std::string& document_id, std::int64_t index,
                                                 std::size_t before, std::size_t after) const = 0;
    /// What passes the filter, in id order, starting after `after`.
    virtual Result<std::vector<Chunk>> scan(const std::string& after, std::size_t limit,
                                            bool with_vectors) const = 0;

    virtual Result<std::uint64_t> count() const = 0;
    virtual Result<std::vector<FacetCount>> facets(const std::string& field,
                                                   std::size_t limit) const = 0;
    /// Counts what passes the filter; bytes_on_disk is left out.
    virtual Result<CollectionStats> stats() const = 0;
    /// Counts chunks and documents only, ignoring the filter.
    struct Extent {
        std::uint64_t chunks = 0;
        std::uint64_t documents = 0;
    };
    virtual Result<Extent> extent() const = 0;
    virtual Result<bool> has_vectors() const = 0;
    virtual Result<std::vector<Suggestion>> suggest(std::string_view text,
                                                    std::size_t limit) const = 0;

    // For those who decide about a write; only the last of these applies the filter.
    virtual Result<Found> find(const std::string& id) const = 0;
    virtual Result<std::vector<std::string>> ids_of_document(
        const std::string& document_id) const = 0;
    virtual Result<> each_version(
        const std::function<void(const std::string& id, Version version)>& use) const = 0;
    /// Ids and versions of what passes the filter and was written after `seen`, perhaps of more.
    virtual Result<std::vector<std::pair<std::string, Version>>> written_after(
        Sequence seen) const = 0;
};

}  // namespace braid::index
