#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "braid/dense/format.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

/// One row and its score, exactly that of ExactRows. Better means higher, then the smaller row.
struct VectorHit {
    std::uint32_t row = 0;
    double score = 0;

    friend bool operator==(const VectorHit&, const VectorHit&) = default;
};

inline bool better(const VectorHit& a, const VectorHit& b) noexcept {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
}

/// Which rows a search may return: bit r mod 64 of word r / 64. Empty: all of them. Bits past the
/// last row are not looked at.
using Allowed = std::span<const std::uint64_t>;

/// A query as the scoring of rows needs it. Made by StoredVectors::query.
struct ExactQuery {
    std::span<const float> vector;  // borrowed
    double norm = 0;
};

/// The vectors as they were stored, and their exact scores. Safe for concurrent use.
class StoredVectors {
public:
    StoredVectors() = default;
    /// Corruption if the sections have not the sizes that `meta` says.
    static Result<StoredVectors> open(const VectorsMeta& meta, const store::SectionSource& source);

    std::uint64_t size() const noexcept { return meta_.count; }
    const VectorsMeta& meta() const noexcept { return meta_; }

    /// InvalidArgument unless it has the dimension, is finite, and is not zero where the metric is
    /// cosine.
    Result<ExactQuery> query(std::span<const float> vector) const;

    /// Each row's score. Requires rows < size() and as many scores as rows.
    Result<> score(const ExactQuery& query, std::span<const std::uint32_t> rows,
                   std::span<double> scores) const;
    /// The k best of the candidates, which come by falling estimates. Those whose estimate says
    /// that they are not among them are not looked at: scores lie about estimates as those of the
    /// rows before do, and `spread` is how many standard deviations above its own a row is hoped
    /// for. Requires rows < size(), as many estimates, and that these order as scores do.
    Result<std::vector<VectorHit>> best(const ExactQuery& query,
                                        std::span<const std::uint32_t> candidates,
                                        std::span<const float> estimates, std::size_t k,
                                        double spread) const;
    /// The k best of the allowed rows, best first: what scoring all of them and sorting gives.
    Result<std::vector<VectorHit>> search(const ExactQuery& query, std::size_t k,
                                          Allowed allowed) const;
    /// The same of all rows for several queries, reading the rows once.
    Result<std::vector<std::vector<VectorHit>>> search_all(std::span<const ExactQuery> queries,
                                                           std::size_t k) const;
    /// A row's numbers as floats. Requires row < size() and room for the dimension.
    Result<> copy_row(std::uint32_t row, std::span<float> to) const;
    /// A row's bytes. Requires row < size().
    Result<std::span<const std::byte>> stored_row(std::uint32_t row) const {
        return raw_rows(row, 1);
    }
    Result<double> norm(std::uint32_t row) const;
    /// Corruption if a page vanished while it was read.
    Result<> intact() const;
    bool guarded_as(const store::Section& other) const noexcept {
        return rows_.guarded_as(other) && norms_.guarded_as(other);
    }

private:
    /// `wide` has room for a row of halves.
    Result<double> score_of(const ExactQuery& query, std::uint32_t row,
                            std::span<float> wide) const;
    void fetch(std::uint32_t row) const noexcept;
    Result<std::span<const std::byte>> raw_rows(std::uint64_t first, std::uint64_t count) const;
    Result<std::span<const double>> norms(std::uint64_t first, std::uint64_t count) const;
    friend class ExactSearch;

    VectorsMeta meta_;
    store::Section rows_;
    store::Section norms_;
};

/// The best k of the hits given, best first.
std::vector<VectorHit> best_of(std::vector<VectorHit> hits, std::size_t k);

/// InvalidArgument, naming what, unless a metric can compare the vector.
Result<> check_vector(std::span<const float> vector, std::size_t dimension, Metric metric);

}  // namespace braid::dense
