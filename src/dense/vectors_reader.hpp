#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "braid/dense/format.hpp"
#include "braid/dense/stored_vectors.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

/// How the candidates of a search were found. Their scores are exact in any case.
enum class VectorMethod { Exact };

struct VectorSearch {
    std::size_t k = 10;
    Allowed allowed;     // borrowed
    bool exact = false;  // look at every allowed row
};

struct VectorAnswer {
    std::vector<VectorHit> hits;  // best first
    VectorMethod method = VectorMethod::Exact;
};

/// Searches what a VectorsBuilder wrote. Opening reads a few bytes and checks every length; vectors
/// are verified when they are first touched. Safe for concurrent use; valid as long as the source.
class VectorsReader {
public:
    /// Corruption if a section is missing, or is not what it ought to be.
    static Result<VectorsReader> open(const store::SectionSource& source);

    std::uint64_t size() const noexcept { return vectors_.size(); }
    const VectorsMeta& meta() const noexcept { return vectors_.meta(); }

    /// The best k of the allowed rows: fewer only where fewer are allowed. InvalidArgument if the
    /// query has another dimension, a number that is not finite, or, under cosine, only zeros.
    Result<VectorAnswer> search(std::span<const float> query, const VectorSearch& search) const;

    /// The exact score of each of the rows given. InvalidArgument as above, and for a row that does
    /// not exist.
    Result<std::vector<double>> score(std::span<const float> query,
                                      std::span<const std::uint32_t> rows) const;

    const StoredVectors& vectors() const noexcept { return vectors_; }

private:
    StoredVectors vectors_;
};

}  // namespace braid::dense
