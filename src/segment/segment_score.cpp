#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "braid/core/limits.hpp"
#include "braid/exact/leg_search.hpp"
#include "braid/segment/segment_view.hpp"
#include "braid/segment/tree_search.hpp"
#include "braid/sparse/search.hpp"

// Scores and ranks of chunks that are named, or were found by another leg.

namespace braid::segment {
namespace {

using Scores = std::vector<std::optional<double>>;

/// Chunks of one buffer or part: where they stand among all that are asked for, and their rows.
struct Asked {
    std::vector<std::size_t> places;
    std::vector<std::uint32_t> rows;

    void add(std::size_t place, std::uint32_t row) {
        places.push_back(place);
        rows.push_back(row);
    }
};

Result<> score_words(const BufferView& buffer, const index::Query& query, const CallLimits& limits,
                     const Asked& asked, Scores& scores) {
    BRAID_TRY(const auto scored, exact::score_sparse(buffer.rows, query, nullptr, limits));
    for (std::size_t i = 0; i < asked.rows.size(); ++i) {
        const exact::Row row{asked.rows[i]};
        const auto found = std::ranges::lower_bound(scored, row, {}, &exact::ScoredRow::row);
        scores[asked.places[i]] = found != scored.end() && found->row == row ? found->score : 0.0;
    }
    return {};
}

Result<> score_vectors(const BufferView& buffer, const index::Query& query, const Asked& asked,
                       Scores& scores) {
    BRAID_TRY(const auto scored,
              exact::score_dense_rows(*buffer.partition, query.vector, asked.rows));
    for (std::size_t i = 0; i < asked.rows.size(); ++i) scores[asked.places[i]] = scored[i];
    return {};
}

/// Leaves those that have a vector, and puts its number in place of the row.
Result<> keep_vectors(const Part& part, Asked& asked) {
    Asked kept;
    for (std::size_t i = 0; i < asked.rows.size(); ++i) {
        BRAID_TRY(const auto vector, part.vector_of(asked.rows[i]));
        if (vector) kept.add(asked.places[i], *vector);
    }
    asked = std::move(kept);
    return {};
}

}  // namespace

Result<std::vector<std::optional<double>>> SegmentView::score(
    const index::Query& query, std::span<const FoundChunk> chunks) const {
    Scores scores(chunks.size());
    std::vector<Asked> in_parts(parts_.size());
    std::vector<Asked> in_buffers(buffers_.size());
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        BRAID_TRY(const Place place, place_of(chunks[i]));
        if (place.part != nullptr) {
            in_parts[static_cast<std::size_t>(place.part - parts_.data())].add(i, place.in_part);
        } else if (place.buffer != nullptr) {
            in_buffers[static_cast<std::size_t>(place.buffer - buffers_.data())].add(
                i, static_cast<std::uint32_t>(place.row));
        }
    }
    const bool sparse = query.kind == LegKind::Sparse;
    Weighed weighed;
    index::Query in_buffer = query;
    std::optional<index::TreeScorer> tree;
    if (query.tree) {
        BRAID_TRY(tree, tree_scorer(query, in_buffer));
    } else if (sparse) {
        BRAID_TRY(weighed, weigh(query));
        in_buffer.statistics = weighed.statistics;
        if (!weighed.queries.empty()) in_buffer.mean_idf = weighed.queries.front().mean_idf;
    } else {
        BRAID_TRY(const bool any, comparable(query));
        if (!any) return scores;
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        if (in_buffers[i].rows.empty()) continue;
        BRAID_CHECK(core::check_limits(limits_));
        BRAID_CHECK(sparse ? score_words(buffers_[i], in_buffer, limits_, in_buffers[i], scores)
                           : score_vectors(buffers_[i], query, in_buffers[i], scores));
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        Asked& asked = in_parts[i];
        const Part& part = parts_[i].part();
        if (!sparse) BRAID_CHECK(keep_vectors(part, asked));
        if (asked.rows.empty()) continue;
        BRAID_CHECK(core::check_limits(limits_));
        std::span<const std::optional<sparse::TermEntry>> entries;
        if (!weighed.entries.empty()) entries = weighed.entries[i];
        BRAID_TRY(const std::vector<double> found,
                  tree     ? score_rows(parts_[i], *tree, query.scoring_or(schema()), asked.rows)
                  : sparse ? sparse::score(part.words(), weighed.queries, asked.rows, entries)
                           : part.vectors()->score(query.vector, asked.rows));
        for (std::size_t j = 0; j < found.size(); ++j) scores[asked.places[j]] = found[j];
        BRAID_CHECK(part.intact());
    }
    return scores;
}

Result<std::vector<std::optional<std::uint64_t>>> SegmentView::rank_of(
    const index::Query& query, std::span<const std::string> ids) const {
    index::Query whole = query;
    whole.exact = true;
    BRAID_TRY(const index::Ranking ranking, search(whole, static_cast<std::size_t>(-1)));
    std::unordered_map<std::string_view, std::uint64_t> ranks;
    for (const LegHit& hit : ranking.hits) ranks.emplace(hit.chunk_id, ranks.size() + 1);
    std::vector<std::optional<std::uint64_t>> answer;
    for (const std::string& id : ids) {
        const auto found = ranks.find(id);
        answer.push_back(found == ranks.end() ? std::nullopt : std::optional(found->second));
    }
    return answer;
}

}  // namespace braid::segment
