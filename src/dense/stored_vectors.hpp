#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "braid/dense/format.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

/// One row and its score, exactly as ExactRows computes it. Better means higher, then the smaller
/// row.
struct VectorHit {
    std::uint32_t row = 0;
    double score = 0;

    friend bool operator==(const VectorHit&, const VectorHit&) = default;
};

inline bool better(const VectorHit& a, const VectorHit& b) noexcept {
    return a.score != b.score ? a.score > b.score : a.row < b.row;
}

/// Which rows a search may return: bit r mod 64 of word r / 64. Empty: all of them. Bits past the
/// last row are ignored.
using Allowed = std::span<const std::uint64_t>;

/// A query in the form that scoring rows needs. Made by StoredVectors::query.
struct ExactQuery {
    std::span<const float> vector;  // borrowed
    double norm = 0;
};

/// The vectors as stored, and their exact scores. Safe for concurrent use.
class StoredVectors {
public:
    StoredVectors() = default;
    /// Corruption if the sections do not have the sizes that `meta` gives.
    static Result<StoredVectors> open(const VectorsMeta& meta, const store::SectionSource& source);

    std::uint64_t size() const noexcept { return meta_.count; }
    const VectorsMeta& meta() const noexcept { return meta_; }

    /// InvalidArgument unless it has the right dimension, is finite and, if the metric is cosine,
    /// is not zero.
    Result<ExactQuery> query(std::span<const float> vector) const;

    /// Each row's score. Requires rows < size() and as many scores as rows.
    Result<> score(const ExactQuery& query, std::span<const std::uint32_t> rows,
                   std::span<double> scores) const;
    /// The k best of the candidates, which must come in order of falling estimates. Those whose
    /// estimate rules them out are not read: scores are assumed to scatter about their estimates as
    /// those of earlier rows did, and `spread` is how many standard deviations above its estimate a
    /// row is given a chance. Requires rows < size(), as many estimates as rows, and estimates that
    /// order as scores do.
    Result<std::vector<VectorHit>> best(const ExactQuery& query,
                                        std::span<const std::uint32_t> candidates,
                                        std::span<const float> estimates, std::size_t k,
                                        double spread) const;
    /// The k best of the allowed rows, best first: the same as scoring all of them and sorting.
    Result<std::vector<VectorHit>> search(const ExactQuery& query, std::size_t k,
                                          Allowed allowed) const;
    /// The same over all rows for several queries, reading each row once.
    Result<std::vector<std::vector<VectorHit>>> search_all(std::span<const ExactQuery> queries,
                                                           std::size_t k) const;
    /// A row's numbers as floats. Requires row < size() and room for the dimension.
    Result<> copy_row(std::uint32_t row, std::span<float> to) const;
    /// A row's bytes. Requires row < size().
    Result<std::span<const std::byte>> stored_row(std::uint32_t row) const {
        return raw_rows(row, 1);
    }
    Result<double> norm(std::uint32_t row) const;
    /// Corruption if a page vanished while being read.
    Result<> intact() const;
    bool guarded_as(const store::Section& other) const noexcept {
        return rows_.guarded_as(other) && norms_.guarded_as(other);
    }

private:
    /// `wide` has room for a row, unless rows are floats already.
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

/// InvalidArgument, naming the reason, unless the metric can compare the vector.
Result<> check_vector(std::span<const float> vector, std::size_t dimension, Metric metric);

}  // namespace braid::dense
