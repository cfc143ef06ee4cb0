#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "braid/result.hpp"
#include "braid/sparse/index_reader.hpp"
#include "braid/sparse/query.hpp"

namespace braid::sparse {

struct SearchOptions {
    std::size_t k = 10;
    /// Bit r % 64 of word r / 64: row r may be a hit. Empty: all may. Otherwise one word for every
    /// 64 rows; bits beyond the last row are ignored.
    std::span<const std::uint64_t> allowed;
    /// Rows with a lower score are not hits: other indexes have k better ones.
    double threshold = 0;
    /// Continues after the last row of an earlier answer.
    std::optional<ScoredRow> after;
    /// Count every row that matches. Otherwise only the rows looked at are counted.
    bool count_all = false;
    /// What the dictionary has for each term of the only query, if the caller has asked it already.
    /// Empty: it has not.
    std::span<const std::optional<TermEntry>> entries;
    /// False: the caller calls IndexReader::intact() itself before trusting the answer.
    bool check_intact = true;
};

/// How many allowed rows score more than 0, regardless of k, threshold and after.
struct MatchCount {
    std::uint64_t count = 0;
    bool exact = false;  // otherwise a lower bound

    friend bool operator==(const MatchCount&, const MatchCount&) = default;
};

struct SearchResult {
    std::vector<ScoredRow> rows;  // best first
    MatchCount matched;
};

/// The best rows, by the highest score any of the queries gives them; ties go to smaller rows.
/// Scores are exact; a score of 0 or less is not a hit. The same answer as exhaustive_search, but
/// faster: rows that cannot be among the best are not scored.
Result<SearchResult> search(const IndexReader& reader, std::span<const Query> queries,
                            const SearchOptions& options);

/// The same by scoring every row that holds a term: slow, simple, the reference.
Result<SearchResult> exhaustive_search(const IndexReader& reader, std::span<const Query> queries,
                                       const SearchOptions& options);

/// The best score of each row. InvalidArgument if there is no such row. `entries`: see
/// SearchOptions.
Result<std::vector<double>> score(const IndexReader& reader, std::span<const Query> queries,
                                  std::span<const std::uint32_t> rows,
                                  std::span<const std::optional<TermEntry>> entries = {});

/// How many allowed rows are better than each of these, plus 1; 0 for a row that is not a hit.
Result<std::vector<std::uint64_t>> rank_of(const IndexReader& reader,
                                           std::span<const Query> queries,
                                           std::span<const std::uint32_t> rows,
                                           std::span<const std::uint64_t> allowed);

}  // namespace braid::sparse
