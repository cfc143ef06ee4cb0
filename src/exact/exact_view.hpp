#pragma once

#include <memory>
#include <utility>

#include "braid/exact/leg_search.hpp"
#include "braid/exact/visible_rows.hpp"
#include "braid/index/index.hpp"

namespace braid::exact {

/// A view of a partition, every answer computed from all of its rows.
class ExactView final : public index::View {
public:
    /// See Index::view. The analyzer must outlive it.
    static Result<std::unique_ptr<index::View>> create(std::shared_ptr<const Partition> partition,
                                                       const text::Analyzer& analyzer,
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
    ExactView(std::shared_ptr<const Partition> partition, VisibleRows visible,
              const text::Analyzer& analyzer, const docs::FilterMatcher* filter, CallLimits limits)
        : partition_(std::move(partition)),
          visible_(std::move(visible)),
          analyzer_(&analyzer),
          filter_(filter),
          limits_(std::move(limits)) {}

    RowFilter admitted() const { return {visible_, filter_, limits_}; }
    Result<std::vector<std::string>> absent_terms(const index::Query& query) const;
    Result<std::vector<ScoredRow>> scored(const index::Query& query,
                                          const docs::FilterMatcher* filter) const;
    /// What one list of the query holds, best first, at most `depth` of it.
    Result<std::vector<ScoredRow>> ranked(const index::Query& query, std::size_t depth,
                                          std::uint64_t& matched) const;
    /// The chunk for an answer, charged to the call's budget before it is copied.
    Result<Chunk> counted_copy(Row row, bool with_vector) const;

    std::shared_ptr<const Partition> partition_;
    VisibleRows visible_;
    const text::Analyzer* analyzer_;
    const docs::FilterMatcher* filter_;
    CallLimits limits_;
};

}  // namespace braid::exact
