#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/exact/visible_rows.hpp"
#include "braid/index/index.hpp"
#include "braid/index/tree_scorer.hpp"
#include "braid/segment/binding.hpp"
#include "braid/segment/part_view.hpp"
#include "braid/segment/segment_index.hpp"
#include "braid/sparse/query.hpp"

namespace braid::segment {

struct BufferHits;  // candidates.hpp

/// What a principal sees of a buffer.
struct BufferView {
    std::shared_ptr<const exact::Partition> partition;
    exact::VisibleRows rows;
};

/// A view of a state: each answer is combined from those of buffers and parts, so that it does not
/// show how chunks are spread over them.
class SegmentView final : public index::View {
public:
    /// See Index::view. The index must outlive it.
    static Result<std::unique_ptr<index::View>> create(const SegmentIndex& index,
                                                       std::shared_ptr<const Binding> binding,
                                                       const index::ViewOf& of);

    Result<index::Ranking> search(const index::Query& query, std::size_t depth) const override;
    Result<std::vector<std::optional<double>>> score(
        const index::Query& query, std::span<const FoundChunk> chunks) const override;
    Result<std::vector<std::optional<std::uint64_t>>> rank_of(
        const index::Query& query, std::span<const std::string> ids) const override;
    Result<TextStatistics> text_statistics(const index::Query& query,
                                           bool every_term) const override;
    Result<std::vector<std::optional<Chunk>>> fetch(std::span<const std::string> ids,
                                                    bool with_vectors) const override;
    Result<std::vector<Chunk>> neighbors(const std::string& document_id, std::int64_t index,
                                         std::size_t before, std::size_t after) const override;
    Result<std::vector<Chunk>> scan(const std::string& after, std::size_t limit,
                                    bool with_vectors) const override;
    Result<std::uint64_t> count() const override;
    Result<std::vector<FacetCount>> facets(const std::string& field,
                                           std::size_t limit) const override;
    Result<CollectionStats> stats() const override;
    Result<Extent> extent() const override;
    Result<bool> has_vectors() const override;
    Result<std::vector<Suggestion>> suggest(std::string_view text,
                                            std::size_t limit) const override;
    Result<index::Found> find(const std::string& id) const override;
    Result<std::vector<std::string>> ids_of_document(const std::string& document_id) const override;
    Result<> each_version(
        const std::function<void(const std::string& id, Version version)>& use) const override;
    Result<std::vector<std::pair<std::string, Version>>> written_after(
        Sequence seen) const override;

private:
    friend class SegmentWords;

    SegmentView(const SegmentIndex& index, std::shared_ptr<const Binding> binding,
                const index::ViewOf& of)
        : index_(index),
          binding_(std::move(binding)),
          namespace_(of.namespace_),
          principal_(of.principal),
          at_(of.at),
          now_(of.now),
          filter_(of.filter),
          matcher_(of.matcher),
          limits_(of.limits) {}

    const Schema& schema() const noexcept { return index_.schema(); }
    exact::RowFilter admitted(const BufferView& buffer) const {
        return {buffer.rows, matcher_, limits_};
    }

    /// Where a visible chunk is; neither set: nowhere.
    struct Place {
        const BufferView* buffer = nullptr;
        exact::Row row = exact::kNoRow;
        const PartView* part = nullptr;
        std::uint32_t in_part = 0;

        explicit operator bool() const noexcept { return buffer != nullptr || part != nullptr; }
    };
    Result<Place> place_of(const std::string& id) const;
    /// The same, by where it was found if it is still there.
    Result<Place> place_of(const FoundChunk& chunk) const;
    /// The chunk for an answer, charged to the call's budget before it leaves.
    Result<Chunk> counted_copy(const Place& place, bool with_vector) const;
    /// Whether the filter admits a visible chunk.
    Result<bool> admits(const Place& place) const;

    // Counting (segment_stats.cpp)
    //
    // Rows of a part that count: all visible ones, or those among them that the filter admits.
    static Result<BitsPtr> rows_of(const PartView& part, bool filtered) {
        return filtered ? part.allowed() : part.visible();
    }
    Result<Extent> extent_of(bool filtered) const;
    /// Distinct documents among what the filter admits.
    Result<std::uint64_t> count_terms() const;

    // Searching (segment_search.cpp)
    Result<index::Ranking> search_words(const index::Query& query, std::size_t depth) const;
    Result<index::Ranking> search_vectors(const index::Query& query, std::size_t depth) const;
    Result<index::Ranking> search_tree(const index::Query& query, std::size_t depth) const;
    /// The best of all buffers by the words of a query, which brings its statistics.
    Result<BufferHits> search_buffers(const index::Query& query, const std::optional<LegHit>& after,
                                      std::size_t depth) const;
    /// The scorer of the query's tree; `weighed` becomes the query with its statistics.
    Result<index::TreeScorer> tree_scorer(const index::Query& query, index::Query& weighed) const;
    Result<std::shared_ptr<const TextStatistics>> statistics_of(const index::Query& query) const;
    /// The texts of a query, and what scores them.
    struct Weighed {
        std::vector<sparse::Query> queries;
        std::shared_ptr<const TextStatistics> statistics;  // null: no buffer needs them
        std::uint64_t most = 0;  // chunks with the most frequent term, if counted here
        /// What each part's dictionary has for the terms, where it was asked already.
        std::vector<std::vector<std::optional<sparse::TermEntry>>> entries;
    };
    Result<Weighed> weigh(const index::Query& query) const;
    /// The usual query: one text, scored by this view's own statistics. Asks each dictionary once.
    /// Requires that there are no buffers.
    Result<Weighed> weigh_text(const std::vector<index::QueryTerm>& text,
                               const Schema& scoring) const;
    Result<std::vector<sparse::Query>> queries_of(const index::Query& query,
                                                  const TextStatistics& statistics) const;
    /// True if vectors can be compared with that of the query; false if there are none to see.
    Result<bool> comparable(const index::Query& query) const;
    Result<double> mean_okapi_idf() const;

    const SegmentIndex& index_;
    std::shared_ptr<const Binding> binding_;
    std::string namespace_;
    Principal principal_;
    Sequence at_;
    Timestamp now_;
    const Filter* filter_;
    const docs::FilterMatcher* matcher_;
    CallLimits limits_;
    std::vector<bool> labels_;  // by number: visible; unused for a caller who sees everything
    std::vector<BufferView> buffers_;
    std::vector<PartView> parts_;
};

}  // namespace braid::segment
