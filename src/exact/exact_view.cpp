#include "braid/exact/exact_view.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "braid/core/charge.hpp"
#include "braid/exact/facets.hpp"
#include "braid/exact/suggest.hpp"
#include "braid/exact/tree_search.hpp"
#include "braid/index/neighbors.hpp"

namespace braid::exact {

Result<std::unique_ptr<index::View>> ExactView::create(std::shared_ptr<const Partition> partition,
                                                       const text::Analyzer& analyzer,
                                                       const index::ViewOf& of) {
    BRAID_TRY(VisibleRows visible, VisibleRows::create(*partition, of.principal, of.at, of.now));
    return std::unique_ptr<index::View>(
        new ExactView(std::move(partition), std::move(visible), analyzer, of.matcher,
                      of.limits));  // NOLINT(cppcoreguidelines-owning-memory): private
}

Result<Chunk> ExactView::counted_copy(Row row, bool with_vector) const {
    const bool vector = with_vector && partition_->facts(row).vector != kNoVector;
    BRAID_CHECK(core::charge(limits_, partition_->chunk(row),
                             vector ? partition_->vectors()->dimension() : 0));
    return vector ? partition_->chunk_with_vector(row) : partition_->chunk(row);
}

Result<std::vector<ScoredRow>> ExactView::scored(const index::Query& query,
                                                 const docs::FilterMatcher* filter) const {
    return query.kind == LegKind::Sparse ? score_sparse(visible_, query, filter, limits_)
                                         : score_dense(visible_, query, filter, limits_);
}

Result<std::vector<ScoredRow>> ExactView::ranked(const index::Query& query, std::size_t depth,
                                                 std::uint64_t& matched) const {
    BRAID_TRY(std::vector<ScoredRow> rows, scored(query, filter_));
    if (query.kind == LegKind::Sparse) {
        std::erase_if(rows, [](const ScoredRow& one) { return one.score <= 0; });
    }
    BRAID_CHECK(core::check_limits(limits_));
    matched = rows.size();
    if (query.after) keep_below(*partition_, *query.after, rows);
    return best(*partition_, std::move(rows), depth);
}

Result<std::vector<std::string>> ExactView::absent_terms(const index::Query& query) const {
    TextStatistics own;
    if (!query.statistics) {
        BRAID_TRY(own, text_statistics(query, false));
    }
    const auto& known = (query.statistics ? *query.statistics : own).frequencies;
    std::vector<std::string> absent;
    std::unordered_set<std::string_view> listed;
    for (const auto& text : query.texts) {
        for (const index::QueryTerm& one : text) {
            if (known.contains(one.term)) continue;
            if (listed.insert(one.term).second) absent.push_back(one.term);
        }
    }
    return absent;
}

Result<index::Ranking> ExactView::search(const index::Query& query, std::size_t depth) const {
    index::Ranking ranking;
    BRAID_TRY(const auto rows, ranked(query, depth, ranking.matched));
    ranking.method = query.kind == LegKind::Dense ? "exact scan" : "exhaustive";
    if (query.tree) {
        BRAID_TRY(const index::TreeScorer scorer, tree_scorer(visible_, query, limits_));
        ranking.patterns = scorer.patterns();
    } else if (query.kind == LegKind::Sparse) {
        BRAID_TRY(ranking.absent, absent_terms(query));
    }
    for (const ScoredRow& one : rows) {
        ranking.hits.push_back({partition_->chunk(one.row).chunk_id, one.score});
    }
    return ranking;
}

Result<std::vector<std::optional<double>>> ExactView::score(
    const index::Query& query, std::span<const FoundChunk> chunks) const {
    BRAID_TRY(const auto rows, scored(query, nullptr));
    std::vector<std::optional<double>> scores;
    scores.reserve(chunks.size());
    for (const FoundChunk& chunk : chunks) {
        const Row row = visible_.find(std::string(chunk.chunk_id));
        const auto found = std::ranges::lower_bound(rows, row, {}, &ScoredRow::row);
        auto& score = scores.emplace_back();
        if (row == kNoRow) continue;
        if (found != rows.end() && found->row == row) {
            score = found->score;
        } else if (query.kind == LegKind::Sparse) {
            score = 0.0;
        }
    }
    return scores;
}

Result<std::vector<std::optional<std::uint64_t>>> ExactView::rank_of(
    const index::Query& query, std::span<const std::string> ids) const {
    std::uint64_t matched = 0;
    BRAID_TRY(const auto rows, ranked(query, static_cast<std::size_t>(-1), matched));
    std::unordered_map<std::string_view, std::uint64_t> ranks;
    for (const ScoredRow& one : rows) {
        ranks.emplace(partition_->chunk(one.row).chunk_id, ranks.size() + 1);
    }
    std::vector<std::optional<std::uint64_t>> answer;
    for (const std::string& id : ids) {
        const auto found = ranks.find(id);
        answer.push_back(found == ranks.end() ? std::nullopt : std::optional(found->second));
    }
    return answer;
}

Result<TextStatistics> ExactView::text_statistics(const index::Query& query,
                                                  bool every_term) const {
    return exact::text_statistics(visible_, query, every_term, limits_);
}

Result<std::vector<std::optional<Chunk>>> ExactView::fetch(std::span<const std::string> ids,
                                                           bool with_vectors) const {
    std::vector<std::optional<Chunk>> chunks;
    RowFilter filter = admitted();
    for (const std::string& id : ids) {
        auto& chunk = chunks.emplace_back();
        const Row row = visible_.find(id);
        if (row == kNoRow) continue;
        BRAID_TRY(const bool passes, filter.admits(row));
        if (!passes) continue;
        BRAID_TRY(chunk, counted_copy(row, with_vectors));
    }
    return chunks;
}

Result<std::vector<Chunk>> ExactView::neighbors(const std::string& document_id, std::int64_t index,
                                                std::size_t before, std::size_t after) const {
    const index::Nearby nearby(index, before, after);
    std::vector<Chunk> chunks;
    RowFilter filter = admitted();
    for (const Row row : partition_->rows_of_document(document_id)) {
        if (!visible_.shows(row)) continue;
        const Chunk& chunk = partition_->chunk(row);
        if (!nearby.holds(chunk)) continue;
        BRAID_TRY(const bool passes, filter.admits(row));
        if (!passes) continue;
        BRAID_CHECK(core::charge(limits_, chunk));
        chunks.push_back(chunk);
    }
    index::sort_by_place(chunks);
    return chunks;
}

Result<std::vector<Chunk>> ExactView::scan(const std::string& after, std::size_t limit,
                                           bool with_vectors) const {
    std::vector<Row> rows;
    RowFilter filter = admitted();
    core::StepCounter steps;
    for (std::size_t i = 0; i < visible_.rows(); ++i) {
        if (steps.due()) BRAID_CHECK(core::check_limits(limits_));
        const Row row = row_at(i);
        if (!visible_.shows(row) || partition_->chunk(row).chunk_id <= after) continue;
        BRAID_TRY(const bool passes, filter.admits(row));
        if (passes) rows.push_back(row);
    }
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(limit, rows.size()));
    std::ranges::partial_sort(rows, end, {}, [&](Row row) -> const std::string& {
        return partition_->chunk(row).chunk_id;
    });
    std::vector<Chunk> chunks;
    for (auto row = rows.begin(); row != end; ++row) {
        if (steps.due()) BRAID_CHECK(core::check_limits(limits_));
        BRAID_TRY(Chunk chunk, counted_copy(*row, with_vectors));
        chunks.push_back(std::move(chunk));
    }
    return chunks;
}

Result<std::uint64_t> ExactView::count() const {
    std::uint64_t count = 0;
    BRAID_CHECK(admitted().for_each([&](Row) { ++count; }));
    return count;
}

Result<std::vector<FacetCount>> ExactView::facets(const std::string& field,
                                                  std::size_t limit) const {
    FacetCounter counter(field, partition_->schema(), limits_);
    BRAID_CHECK(admitted().for_each([&](Row row) { return counter.add(partition_->chunk(row)); }));
    return counter.most_frequent(limit);
}

Result<CollectionStats> ExactView::stats() const {
    CollectionStats stats;
    std::unordered_set<std::string_view> documents;
    std::vector<bool> counted(visible_.rows(), false);
    LengthSum lengths(partition_->schema());
    BRAID_CHECK(admitted().for_each([&](Row row) {
        counted[index_of(row)] = true;
        ++stats.chunks;
        if (partition_->facts(row).vector != kNoVector) ++stats.vectors;
        documents.insert(partition_->chunk(row).document_id);
        lengths.add(partition_->field_lengths(row));
    }));
    core::StepCounter steps;
    for (const auto& [term, list] : partition_->postings()) {
        if (steps.due(list.size())) BRAID_CHECK(core::check_limits(limits_));
        stats.terms += std::ranges::any_of(list, [&](const sparse::Posting& posting) {
            return posting.row < counted.size() && counted[posting.row];
        });
    }
    stats.documents = documents.size();
    if (stats.chunks > 0) {
        stats.average_length = lengths.weighted() / static_cast<double>(stats.chunks);
    }
    return stats;
}

Result<index::View::Extent> ExactView::extent() const {
    Extent extent;
    std::unordered_set<std::string_view> documents;
    BRAID_CHECK(RowFilter(visible_, nullptr, limits_).for_each([&](Row row) {
        ++extent.chunks;
        documents.insert(partition_->chunk(row).document_id);
    }));
    extent.documents = documents.size();
    return extent;
}

Result<bool> ExactView::has_vectors() const {
    for (std::size_t i = 0; i < visible_.rows(); ++i) {
        const Row row = row_at(i);
        if (partition_->facts(row).vector != kNoVector && visible_.shows(row)) return true;
    }
    return false;
}

Result<std::vector<Suggestion>> ExactView::suggest(std::string_view text, std::size_t limit) const {
    return index::suggest_words(VisibleWords(visible_), partition_->schema(), *analyzer_, text,
                                limit, limits_);
}

Result<index::Found> ExactView::find(const std::string& id) const {
    const Row row = visible_.find(id);
    if (row == kNoRow) return index::Found{};
    return index::Found{partition_->shared_chunk(row)};
}

Result<std::vector<std::string>> ExactView::ids_of_document(const std::string& document_id) const {
    std::vector<std::string> ids;
    for (const Row row : partition_->rows_of_document(document_id)) {
        if (visible_.shows(row)) ids.push_back(partition_->chunk(row).chunk_id);
    }
    return ids;
}

Result<> ExactView::each_version(
    const std::function<void(const std::string& id, Version version)>& use) const {
    return RowFilter(visible_, nullptr, limits_).for_each([&](Row row) {
        const Chunk& chunk = partition_->chunk(row);
        use(chunk.chunk_id, chunk.version);
    });
}

Result<std::vector<std::pair<std::string, Version>>> ExactView::written_after(Sequence seen) const {
    std::vector<std::pair<std::string, Version>> written;
    RowFilter filter = admitted();
    for (std::size_t i = 0; i < visible_.rows(); ++i) {
        const Row row = row_at(i);
        if (partition_->facts(row).born <= seen || !visible_.shows(row)) continue;
        BRAID_TRY(const bool passes, filter.admits(row));
        const Chunk& chunk = partition_->chunk(row);
        if (passes) written.emplace_back(chunk.chunk_id, chunk.version);
    }
    return written;
}

}  // namespace braid::exact
