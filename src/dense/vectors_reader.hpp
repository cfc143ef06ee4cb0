#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "braid/dense/code_scan.hpp"
#include "braid/dense/format.hpp"
#include "braid/dense/stored_vectors.hpp"
#include "braid/dense/transform.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

/// How the candidates of a search were found. Their scores are exact in any case.
enum class VectorMethod { Exact, Scan };

/// "exact", "scan".
std::string_view name_of(VectorMethod method) noexcept;

struct VectorSearch {
    std::size_t k = 10;
    Allowed allowed;                 // borrowed
    bool exact = false;              // look at every allowed row
    double recall = 0.98;            // asked for: the mean share of the true k that is found
    std::optional<ScanDepth> depth;  // instead of what `recall` would choose
};

struct VectorAnswer {
    std::vector<VectorHit> hits;  // best first
    VectorMethod method = VectorMethod::Exact;
};

/// Searches what a VectorsBuilder wrote. Opening reads a few bytes and checks every length; the
/// rest is verified when it is first touched. Safe for concurrent use; valid as long as the source.
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
    /// What the codes were made with; null where there are none. Other segments of the collection
    /// use the same (VectorsBuilder::use).
    std::shared_ptr<const Transform> transform() const noexcept { return transform_; }

private:
    Result<CodeView> codes() const;
    /// Nothing where the query's numbers are beyond what codes can estimate.
    Result<std::optional<std::vector<std::uint32_t>>> scan(const ExactQuery& query,
                                                           const VectorSearch& search,
                                                           const ScanDepth& depth,
                                                           std::uint64_t allowed_count) const;
    Result<> intact() const;

    StoredVectors vectors_;
    std::shared_ptr<const Transform> transform_;
    store::Section lines_;
    store::Section blocks_;
};

/// The depth at which a scan for k rows finds that share of them in common text embeddings: what
/// holds until it is measured on the collection.
ScanDepth usual_depth(std::size_t k, double recall) noexcept;

}  // namespace braid::dense
