#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "braid/dense/calibration.hpp"
#include "braid/dense/code_graph.hpp"
#include "braid/dense/code_scan.hpp"
#include "braid/dense/format.hpp"
#include "braid/dense/stored_vectors.hpp"
#include "braid/dense/transform.hpp"
#include "braid/dense/vector_plan.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

/// What is made from vectors after they were written, to speed up their search.
struct SearchAids {
    std::optional<CodeGraph> graph;
    std::shared_ptr<const void> keeper;  // owns the graph's memory
    std::optional<Calibration> calibration;
};
using SearchAidsPtr = std::shared_ptr<const SearchAids>;

struct VectorSearch {
    std::size_t k = 10;
    Allowed allowed;                 // borrowed
    bool exact = false;              // look at every allowed row
    double recall = 0.98;            // the mean share of the true k to be found
    std::optional<ScanDepth> depth;  // overrides what `recall` would choose
    std::size_t beam = 0;  // with `depth`: walk the graph with this beam instead of scanning
    float margin = 0;      // with `beam`: see WalkWidth; 0: none
    /// With `depth`: see StoredVectors::best; without it, every candidate is scored.
    double spread = std::numeric_limits<double>::infinity();
    const SearchAids* aids = nullptr;          // instead of the reader's present ones
    const Calibration* calibration = nullptr;  // to go by, instead of the aids' own
};

struct VectorAnswer {
    std::vector<VectorHit> hits;  // best first
    VectorMethod method = VectorMethod::Exact;
};

/// Searches what a VectorsBuilder wrote. Opening reads a few bytes and checks every length; the
/// rest is verified when first touched. Safe for concurrent use; valid as long as the source.
/// Copies share everything, including what they use besides the vectors.
class VectorsReader {
public:
    /// Corruption if a section is missing, or is not what it should be.
    static Result<VectorsReader> open(const store::SectionSource& source);

    std::uint64_t size() const noexcept { return vectors_.size(); }
    const VectorsMeta& meta() const noexcept { return vectors_.meta(); }

    /// The best k of the allowed rows; fewer only if fewer are allowed. InvalidArgument if the
    /// query has another dimension, holds a number that is not finite or, under cosine, is all
    /// zeros.
    Result<VectorAnswer> search(std::span<const float> query, const VectorSearch& search) const;

    /// The exact score of each row given. InvalidArgument as above, and for a row that does not
    /// exist.
    Result<std::vector<double>> score(std::span<const float> query,
                                      std::span<const std::uint32_t> rows) const;

    const StoredVectors& vectors() const noexcept { return vectors_; }
    /// What the codes were made with; null if there are none. Other segments of the collection use
    /// the same one (VectorsBuilder::use).
    std::shared_ptr<const Transform> transform() const noexcept { return transform_; }
    /// All codes, verified. Requires transform().
    Result<CodeView> codes() const;
    /// The code of one row. Requires transform() and row < size().
    Result<Code> code(std::uint32_t row) const;
    /// To be asked once after reading: Corruption if a page vanished since it was verified.
    Result<> intact() const;

    /// What searches use at present; the same object until that changes.
    SearchAidsPtr aids() const;
    /// Searches that begin from now on may walk this graph where that is cheaper; those under way
    /// continue with what they began with. It must have been opened with meta(). `keeper` owns the
    /// graph's memory, and is released with the last search that uses it.
    void use(CodeGraph graph, std::shared_ptr<const void> keeper = nullptr) const;
    /// Also false once a search has found the graph damaged and gone on without it.
    bool has_graph() const { return aids()->graph.has_value(); }
    /// Searches that begin from now on go as deep as it says.
    void use(Calibration calibration) const;
    /// The one searches go by; null if there is none.
    std::shared_ptr<const Calibration> calibration() const;

private:
    using Rows = std::optional<Candidates>;

    struct Current {
        std::mutex mutex;
        SearchAidsPtr aids = std::make_shared<const SearchAids>();
    };

    template <class Change>
    void change(Change change) const;
    /// Searches that begin from now on do without the graph, if it is still this one.
    void forget_graph(const SearchAids& of) const;
    /// `walks`: through the graph, if there is one and that is cheaper.
    VectorPlan plan(const VectorSearch& search, std::uint64_t allowed, const SearchAids& aids,
                    bool walks) const;
    /// Rows to be scored, by the method that the answer then names. None where codes are of no use.
    Result<Rows> candidates(const ExactQuery& query, const VectorSearch& search,
                            VectorMethod& method) const;
    /// None if too few of the rows that the walk met are allowed: rows that are not may stand
    /// between it and those that are. Corruption if the graph is damaged.
    static Result<Rows> walked(const CodeGraph& graph, const CodeView& codes,
                               const CodeQuery& query, const VectorSearch& search,
                               const VectorPlan& plan, std::uint64_t allowed);

    StoredVectors vectors_;
    std::shared_ptr<const Transform> transform_;
    store::Section lines_;
    store::Section blocks_;
    std::shared_ptr<Current> current_ = std::make_shared<Current>();
};

}  // namespace braid::dense
