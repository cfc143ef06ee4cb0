#include "braid/exact/leg_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "braid/sparse/bm25.hpp"

namespace braid::exact {
namespace {

/// Query terms in the order of their first occurrence, repetitions counted.
std::vector<std::pair<std::string, double>> query_terms(const text::Analyzer& analyzer,
                                                        std::string_view query) {
    std::vector<std::pair<std::string, double>> terms;
    std::unordered_map<std::string, std::size_t> seen;
    for (std::string& term : analyzer.query_terms(query)) {
        const auto [found, inserted] = seen.try_emplace(term, terms.size());
        if (inserted) terms.emplace_back(std::move(term), 0);
        terms[found->second].second += 1;
    }
    return terms;
}

std::uint64_t document_frequency(const View& view, const sparse::PostingList& list) {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        list, [&](const sparse::Posting& posting) { return view.shows(posting.row); }));
}

/// Mean idf over every term of the statistics: what Okapi puts in place of a negative one. Terms
/// are added in byte order, so that the sum does not depend on how they are stored.
double mean_okapi_idf(const TextStatistics& statistics) {
    double sum = 0;
    for (const auto& [term, df] : statistics.frequencies) {
        sum += sparse::idf(Bm25Variant::Okapi, statistics.chunks, df);
    }
    const auto terms = static_cast<double>(statistics.frequencies.size());
    return terms == 0 ? 0.0 : sum / terms;
}

}  // namespace

Result<TextStatistics> text_statistics(const View& view, const Schema& schema,
                                       const text::Analyzer& analyzer,
                                       std::span<const std::string> texts, bool every_term,
                                       const CallLimits& limits) {
    TextStatistics statistics;
    LengthSum lengths(schema);
    BRAID_CHECK(RowFilter(view, nullptr, limits).for_each([&](Row row) {
        ++statistics.chunks;
        lengths.add(view.partition().field_lengths(row));
    }));
    statistics.total_length = lengths.weighted();
    const auto count = [&](const std::string& term, const sparse::PostingList& list) {
        if (statistics.frequencies.contains(term)) return;
        if (const std::uint64_t df = document_frequency(view, list)) {
            statistics.frequencies.emplace(term, df);
        }
    };
    if (every_term) {
        core::StepCounter steps;
        for (const auto& [term, list] : view.partition().postings()) {
            if (steps.due(list.size())) BRAID_CHECK(core::check_limits(limits));
            count(term, list);
        }
        return statistics;
    }
    for (const std::string& text : texts) {
        for (const std::string& term : analyzer.query_terms(text)) {
            count(term, view.partition().postings().find(term));
        }
    }
    return statistics;
}

double LengthSum::weighted() const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
        sum += schema_->text_fields[i].weight * static_cast<double>(terms_[i]);
    }
    return sum;
}

Result<View> View::create(const Partition& partition, const Schema& schema,
                          const Principal& principal, Sequence at) {
    View view(partition, at);
    view.all_labels_ = principal.sees_everything();
    if (view.all_labels_) return view;
    const std::string& wanted = *principal.clearance;
    const auto& names = schema.levels.names;
    const auto level = std::ranges::find(names, wanted);
    if (level == names.end()) {
        return invalid_argument("clearance \"" + wanted + "\" is not a level of the collection");
    }
    const auto clearance = static_cast<std::size_t>(level - names.begin());
    view.labels_ = partition.labels().visible(clearance, principal.scopes);
    return view;
}

namespace {

/// Of the vectors `first` ... `first + rows.size() - 1`: the row of each whose chunk is visible and
/// admitted, kNoRow for the others.
Result<> admitted_rows(const View& view, RowFilter& filter, std::size_t first,
                       std::span<Row> rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row row = view.partition().row_of_vector(first + i);
        rows[i] = kNoRow;
        if (!view.shows(row)) continue;
        if (!filter.admits_all()) {
            BRAID_TRY(const bool admitted, filter.admits(row));
            if (!admitted) continue;
        }
        rows[i] = row;
    }
    return {};
}

}  // namespace

Result<std::vector<ScoredRow>> score_dense(const View& view, const Schema& schema, const Leg& leg,
                                           const docs::FilterMatcher* filter,
                                           const CallLimits& limits) {
    const auto bad = [&](const std::string& message) {
        return invalid_argument("query vector: " + message);
    };
    if (leg.vector.empty()) return bad("it is missing");
    if (!std::ranges::all_of(leg.vector, [](float x) { return std::isfinite(x); })) {
        return bad("it holds a value that is not a finite number");
    }
    const double query_norm = dense::norm(leg.vector);
    if (schema.vectors.metric == Metric::Cosine && query_norm == 0) {
        return bad("all zeros have no direction to compare by cosine");
    }
    const auto wrong_dimension = [&](std::size_t expected) {
        return bad("it has " + std::to_string(leg.vector.size()) + " dimensions, the collection " +
                   std::to_string(expected));
    };
    const std::size_t declared = schema.vectors.dimension;
    if (declared != 0 && leg.vector.size() != declared) return wrong_dimension(declared);
    std::vector<ScoredRow> scored;
    const dense::ExactRows* vectors = view.partition().vectors();
    if (vectors == nullptr) return scored;
    if (leg.vector.size() != vectors->dimension()) {
        // Not declared, so only a vector that may be seen gives the dimension away.
        for (std::size_t i = 0; i < vectors->size(); ++i) {
            if (view.shows(view.partition().row_of_vector(i))) {
                return wrong_dimension(vectors->dimension());
            }
        }
        return scored;
    }
    RowFilter rows(view, filter, limits);
    const std::size_t size = vectors->size();
    std::array<double, dense::ExactRows::kBlockRows> scores{};
    std::array<Row, dense::ExactRows::kBlockRows> admitted{};
    for (std::size_t first = 0; first < size; first += scores.size()) {
        BRAID_CHECK(core::check_limits(limits));
        const auto block = std::span(admitted).first(std::min(scores.size(), size - first));
        BRAID_CHECK(admitted_rows(view, rows, first, block));
        for (auto run = block.begin(); run != block.end();) {  // of neighbours to be scored
            const auto end = std::ranges::find(run, block.end(), kNoRow);
            const auto at = static_cast<std::size_t>(run - block.begin());
            const std::span out(scores.data(), static_cast<std::size_t>(end - run));
            if (!out.empty()) vectors->score(leg.vector, query_norm, first + at, out);
            for (std::size_t i = 0; i < out.size(); ++i) scored.push_back({run[i], out[i]});
            run = std::find_if(end, block.end(), [](Row row) { return row != kNoRow; });
        }
    }
    return scored;
}

Result<std::vector<ScoredRow>> score_sparse(const View& view, const Schema& schema,
                                            const text::Analyzer& analyzer, const Leg& leg,
                                            const docs::FilterMatcher* filter,
                                            const CallLimits& limits) {
    const Partition& partition = view.partition();
    TextStatistics own;
    if (!leg.statistics) {
        BRAID_TRY(own, text_statistics(view, schema, analyzer, leg.texts, false, limits));
    }
    const TextStatistics& statistics = leg.statistics ? *leg.statistics : own;
    const double average =
        sparse::CorpusStatistics{statistics.chunks, statistics.total_length}.average_length();
    std::optional<double> mean_idf;
    std::vector<double> best_scores;
    std::vector<double> scores(view.rows(), 0.0);
    core::StepCounter steps;
    for (const std::string& query : leg.texts) {
        std::ranges::fill(scores, 0.0);
        for (const auto& [term, repeated] : query_terms(analyzer, query)) {
            const sparse::PostingList& list = partition.postings().find(term);
            const auto known = statistics.frequencies.find(term);
            if (known == statistics.frequencies.end()) continue;
            double idf = sparse::idf(schema.bm25.variant, statistics.chunks, known->second);
            if (schema.bm25.variant == Bm25Variant::Okapi && idf < 0) {
                if (!mean_idf && leg.statistics) mean_idf = mean_okapi_idf(statistics);
                if (!mean_idf) {
                    BRAID_TRY(const TextStatistics all,
                              text_statistics(view, schema, analyzer, {}, true, limits));
                    mean_idf = mean_okapi_idf(all);
                }
                idf = schema.bm25.epsilon * *mean_idf;
            }
            const double weight = repeated * idf;
            for (const sparse::Posting& posting : list) {
                if (steps.due()) BRAID_CHECK(core::check_limits(limits));
                if (!view.shows(posting.row)) continue;
                scores[posting.row] +=
                    weight * sparse::saturation(schema.bm25, posting.tf,
                                                partition.facts(posting.row).length, average);
            }
        }
        if (best_scores.empty()) best_scores = scores;
        std::ranges::transform(best_scores, scores, best_scores.begin(), std::ranges::max);
    }
    std::vector<ScoredRow> scored;
    RowFilter rows(view, filter, limits);
    for (Row row = 0; row < best_scores.size(); ++row) {
        if (best_scores[row] == 0) continue;
        BRAID_TRY(const bool admitted, rows.admits(row));
        if (admitted) scored.push_back({row, best_scores[row]});
    }
    return scored;
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
