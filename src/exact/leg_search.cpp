#include "braid/exact/leg_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "braid/exact/tree_search.hpp"
#include "braid/sparse/bm25.hpp"

namespace braid::exact {
namespace {

std::uint64_t document_frequency(const VisibleRows& visible, const sparse::PostingList& list) {
    std::uint64_t df = 0;
    Row last = kNoRow;
    for (const sparse::Posting& posting : list) {
        const Row row{posting.row};
        if (row != last && visible.shows(row)) ++df;
        last = row;
    }
    return df;
}

}  // namespace

double weighted_length(const Partition& partition, Row row, const index::Query& query) noexcept {
    if (!query.scoring) return partition.facts(row).length;
    return index::weighted_length(*query.scoring, partition.field_lengths(row));
}

double mean_okapi_idf(const TextStatistics& statistics) {
    double sum = 0;
    for (const auto& [term, df] : statistics.frequencies) {
        sum += sparse::idf(Bm25Variant::Okapi, statistics.chunks, df);
    }
    const auto terms = static_cast<double>(statistics.frequencies.size());
    return terms == 0 ? 0.0 : sum / terms;
}

Result<TextStatistics> text_statistics(const VisibleRows& visible, const index::Query& query,
                                       bool every_term, const CallLimits& limits) {
    const Partition& partition = visible.partition();
    TextStatistics statistics;
    LengthSum lengths(query.scoring_or(partition.schema()));
    BRAID_CHECK(RowFilter(visible, nullptr, limits).for_each([&](Row row) {
        ++statistics.chunks;
        lengths.add(partition.field_lengths(row));
    }));
    statistics.total_length = lengths.weighted();
    const auto count = [&](const std::string& term, const sparse::PostingList& list) {
        if (statistics.frequencies.contains(term)) return;
        if (const std::uint64_t df = document_frequency(visible, list)) {
            statistics.frequencies.emplace(term, df);
        }
    };
    if (every_term) {
        core::StepCounter steps;
        for (const auto& [term, list] : partition.postings()) {
            if (steps.due(list.size())) BRAID_CHECK(core::check_limits(limits));
            count(term, list);
        }
        return statistics;
    }
    for (const auto& text : query.texts) {
        for (const index::QueryTerm& one : text) {
            count(one.term, partition.postings().find(one.term));
        }
    }
    if (query.tree) {
        for (const std::string& term : query.tree->terms()) {
            count(term, partition.postings().find(term));
        }
        BRAID_CHECK(each_fitting(partition, *query.tree, limits, count));
    }
    return statistics;
}

namespace {

/// Of the vectors `first` ... `first + rows.size() - 1`: the row of each whose chunk is visible and
/// admitted, kNoRow for the others.
Result<> admitted_rows(const VisibleRows& visible, RowFilter& filter, std::size_t first,
                       std::span<Row> rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row row = visible.partition().row_of_vector(first + i);
        rows[i] = kNoRow;
        if (!visible.shows(row)) continue;
        if (!filter.admits_all()) {
            BRAID_TRY(const bool admitted, filter.admits(row));
            if (!admitted) continue;
        }
        rows[i] = row;
    }
    return {};
}

}  // namespace

tl::unexpected<Error> wrong_dimension(std::size_t given, std::size_t expected) {
    return invalid_argument("query vector: it has " + std::to_string(given) +
                            " dimensions, but the collection has " + std::to_string(expected));
}

Result<> check_query_vector(std::span<const float> vector, const Schema& schema) {
    const auto bad = [&](const std::string& message) {
        return invalid_argument("query vector: " + message);
    };
    if (vector.empty()) return bad("it is missing");
    if (!std::ranges::all_of(vector, [](float x) { return std::isfinite(x); })) {
        return bad("it holds a value that is not a finite number");
    }
    if (schema.vectors.metric == Metric::Cosine && dense::norm(vector) == 0) {
        return bad("it is all zeros, which have no direction to compare by cosine");
    }
    const std::size_t declared = schema.vectors.dimension;
    if (declared != 0 && vector.size() != declared) {
        return wrong_dimension(vector.size(), declared);
    }
    return {};
}

Result<std::vector<ScoredRow>> score_dense(const VisibleRows& visible, const index::Query& query,
                                           const docs::FilterMatcher* filter,
                                           const CallLimits& limits) {
    BRAID_CHECK(check_query_vector(query.vector, visible.partition().schema()));
    const double query_norm = dense::norm(query.vector);
    std::vector<ScoredRow> scored;
    const dense::ExactRows* vectors = visible.partition().vectors();
    if (vectors == nullptr) return scored;
    if (query.vector.size() != vectors->dimension()) {
        // Not declared, so only a vector that the caller may see reveals the dimension.
        for (std::size_t i = 0; i < vectors->size(); ++i) {
            if (visible.shows(visible.partition().row_of_vector(i))) {
                return wrong_dimension(query.vector.size(), vectors->dimension());
            }
        }
        return scored;
    }
    RowFilter rows(visible, filter, limits);
    const std::size_t size = vectors->size();
    std::array<double, dense::ExactRows::kBlockRows> scores{};
    std::array<Row, dense::ExactRows::kBlockRows> admitted{};
    for (std::size_t first = 0; first < size; first += scores.size()) {
        BRAID_CHECK(core::check_limits(limits));
        const auto block = std::span(admitted).first(std::min(scores.size(), size - first));
        BRAID_CHECK(admitted_rows(visible, rows, first, block));
        for (auto run = block.begin(); run != block.end();) {  // of neighbours to be scored
            const auto end = std::ranges::find(run, block.end(), kNoRow);
            const auto at = static_cast<std::size_t>(run - block.begin());
            const std::span out(scores.data(), static_cast<std::size_t>(end - run));
            if (!out.empty()) vectors->score(query.vector, query_norm, first + at, out);
            for (std::size_t i = 0; i < out.size(); ++i) scored.push_back({run[i], out[i]});
            run = std::find_if(end, block.end(), [](Row row) { return row != kNoRow; });
        }
    }
    return scored;
}

Result<std::vector<std::optional<double>>> score_dense_rows(const Partition& partition,
                                                            std::span<const float> vector,
                                                            std::span<const std::uint32_t> rows) {
    std::vector<std::optional<double>> scores(rows.size());
    const dense::ExactRows* const vectors = partition.vectors();
    if (vectors == nullptr) return scores;
    const double norm = dense::norm(vector);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const VectorRow row = partition.facts(Row{rows[i]}).vector;
        if (row == kNoVector) continue;
        if (vector.size() != vectors->dimension()) {
            return wrong_dimension(vector.size(), vectors->dimension());
        }
        double score = 0;
        vectors->score(vector, norm, index_of(row), std::span(&score, 1));
        scores[i] = score;
    }
    return scores;
}

namespace {

/// The weight of a term's saturated frequency in a query, before repetition. Okapi's mean idf is
/// computed when the first negative idf needs it.
class TermWeights {
public:
    TermWeights(const VisibleRows& visible, const TextStatistics& statistics,
                const index::Query& query, const CallLimits& limits)
        : visible_(visible),
          bm25_(query.scoring_or(visible.partition().schema()).bm25),
          statistics_(statistics),
          whole_(query.statistics != nullptr),
          limits_(limits),
          mean_known_(query.mean_idf.has_value()),
          mean_idf_(query.mean_idf.value_or(0)) {}

    Result<double> idf(std::uint64_t df) {
        const double idf = sparse::idf(bm25_.variant, statistics_.chunks, df);
        if (bm25_.variant != Bm25Variant::Okapi || idf >= 0) return idf;
        if (!mean_known_ && whole_) mean_idf_ = mean_okapi_idf(statistics_);
        if (!mean_known_ && !whole_) {
            BRAID_TRY(const TextStatistics all, text_statistics(visible_, {}, true, limits_));
            mean_idf_ = mean_okapi_idf(all);
        }
        mean_known_ = true;
        return bm25_.epsilon * mean_idf_;
    }

private:
    const VisibleRows& visible_;
    const Bm25& bm25_;
    const TextStatistics& statistics_;
    bool whole_;  // the statistics hold every term
    const CallLimits& limits_;
    bool mean_known_;
    double mean_idf_;
};

/// What a query scores the rows of a partition with.
struct Scoring {
    const index::Query& query;
    const Bm25& bm25;
    std::vector<double> weights;  // of the text fields

    Scoring(const Partition& partition, const index::Query& asked)
        : query(asked), bm25(asked.scoring_or(partition.schema()).bm25) {
        for (const TextField& field : asked.scoring_or(partition.schema()).text_fields) {
            weights.push_back(field.weight);
        }
    }
};

/// Adds what one term contributes to each visible row.
Result<> add_scores(const VisibleRows& visible, const Scoring& scoring,
                    const sparse::PostingList& list, double weight, double average,
                    std::span<double> scores, core::StepCounter& steps, const CallLimits& limits) {
    const Partition& partition = visible.partition();
    Result<> status;
    sparse::for_each_row(list, scoring.weights, [&](std::uint32_t index, double tf) {
        if (steps.due()) {
            status = core::check_limits(limits);
            if (!status) return false;
        }
        const Row row{index};
        if (visible.shows(row)) {
            const double length = weighted_length(partition, row, scoring.query);
            scores[index] += weight * sparse::saturation(scoring.bm25, tf, length, average);
        }
        return true;
    });
    return status;
}

}  // namespace

Result<std::vector<ScoredRow>> score_sparse(const VisibleRows& visible, const index::Query& query,
                                            const docs::FilterMatcher* filter,
                                            const CallLimits& limits) {
    if (query.tree) return score_tree(visible, query, filter, limits);
    const Partition& partition = visible.partition();
    TextStatistics own;
    if (!query.statistics) {
        BRAID_TRY(own, text_statistics(visible, query, false, limits));
    }
    const TextStatistics& statistics = query.statistics ? *query.statistics : own;
    const double average =
        sparse::CorpusStatistics{statistics.chunks, statistics.total_length}.average_length();
    TermWeights weights(visible, statistics, query, limits);
    const Scoring scoring(partition, query);
    std::vector<double> best_scores;
    std::vector<double> scores(visible.rows(), 0.0);
    core::StepCounter steps;
    for (const auto& text : query.texts) {
        std::ranges::fill(scores, 0.0);
        for (const auto& [term, repeated] : text) {
            const sparse::PostingList& list = partition.postings().find(term);
            const auto known = statistics.frequencies.find(term);
            if (known == statistics.frequencies.end()) continue;
            BRAID_TRY(const double idf, weights.idf(known->second));
            BRAID_CHECK(
                add_scores(visible, scoring, list, repeated * idf, average, scores, steps, limits));
        }
        if (best_scores.empty()) best_scores = scores;
        std::ranges::transform(best_scores, scores, best_scores.begin(), std::ranges::max);
    }
    std::vector<ScoredRow> scored;
    RowFilter rows(visible, filter, limits);
    for (std::size_t i = 0; i < best_scores.size(); ++i) {
        if (best_scores[i] == 0) continue;
        BRAID_TRY(const bool admitted, rows.admits(row_at(i)));
        if (admitted) scored.push_back({row_at(i), best_scores[i]});
    }
    return scored;
}

void keep_below(const Partition& partition, const LegHit& after, std::vector<ScoredRow>& rows) {
    std::erase_if(rows, [&](const ScoredRow& one) {
        return !index::ranks_below(one.score, partition.chunk(one.row).chunk_id, after);
    });
}

std::vector<ScoredRow> best(const Partition& partition, std::vector<ScoredRow> rows,
                            std::size_t depth) {
    const auto better = [&](const ScoredRow& a, const ScoredRow& b) {
        if (a.score != b.score) return a.score > b.score;
        return partition.chunk(a.row).chunk_id < partition.chunk(b.row).chunk_id;
    };
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(depth, rows.size()));
    std::ranges::partial_sort(rows, end, better);
    rows.erase(end, rows.end());
    return rows;
}

}  // namespace braid::exact
