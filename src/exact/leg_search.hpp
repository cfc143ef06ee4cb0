#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "braid/docs/filter_matcher.hpp"
#include "braid/exact/visible_rows.hpp"
#include "braid/index/view.hpp"
#include "braid/result.hpp"

namespace braid::exact {

struct ScoredRow {
    Row row = kNoRow;
    double score = 0;
};

/// Scores for a query of every row that is visible, admitted by the filter, and has a score (a
/// vector, or a word of the query), in row order. Of the sparse scores, which Okapi's negative
/// weights can pull below zero, a list holds those above zero. The slow, complete reference: every
/// list and every pruned search must agree with it. DeadlineExceeded or Cancelled when the limits
/// say so.
///
/// Vectors that the filter excludes are not scored. Words are: their statistics do not depend on
/// the filter, which is then asked about the rows that hold one.
Result<std::vector<ScoredRow>> score_dense(const VisibleRows& visible, const index::Query& query,
                                           const docs::FilterMatcher* filter,
                                           const CallLimits& limits);
Result<std::vector<ScoredRow>> score_sparse(const VisibleRows& visible, const index::Query& query,
                                            const docs::FilterMatcher* filter,
                                            const CallLimits& limits);

/// What score_dense gives some visible rows; none to those without a vector. The query's vector
/// must be one that can be compared.
Result<std::vector<std::optional<double>>> score_dense_rows(const Partition& partition,
                                                            std::span<const float> vector,
                                                            std::span<const std::uint32_t> rows);

/// What score_sparse weighs the words of a query by, unless the query brings its own; on request
/// for every term, which Okapi needs if a word is in more than half of the chunks.
Result<TextStatistics> text_statistics(const VisibleRows& visible, const index::Query& query,
                                       bool every_term, const CallLimits& limits);

/// A row's length, its text fields weighted as the query says.
double weighted_length(const Partition& partition, Row row, const index::Query& query) noexcept;

/// Mean idf over every term of the statistics: what Okapi substitutes for a negative one. Terms are
/// added in byte order, so that the sum does not depend on how they are stored.
double mean_okapi_idf(const TextStatistics& statistics);

/// InvalidArgument unless the metric can compare it and it has the declared dimension.
Result<> check_query_vector(std::span<const float> vector, const Schema& schema);
tl::unexpected<Error> wrong_dimension(std::size_t given, std::size_t expected);

/// Keeps only what ranks below `after`.
void keep_below(const Partition& partition, const LegHit& after, std::vector<ScoredRow>& rows);

/// The best `depth`, by score, then smaller chunk id.
std::vector<ScoredRow> best(const Partition& partition, std::vector<ScoredRow> rows,
                            std::size_t depth);

}  // namespace braid::exact
