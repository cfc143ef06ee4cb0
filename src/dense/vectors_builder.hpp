#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "braid/dense/transform.hpp"
#include "braid/dense/vectors_options.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

/// Collects vectors in memory and writes them as the sections that VectorsReader opens. Rows are
/// numbered from 0. Not safe for concurrent use; writing uses all cores.
class VectorsBuilder {
public:
    /// InvalidArgument unless the dimension is 1 to 65,536.
    static Result<VectorsBuilder> create(const VectorsOptions& options);

    /// InvalidArgument, with nothing added, if the vector has another dimension, holds a number
    /// that is not finite or too large for the precision or, under cosine, is all zeros (as
    /// stored).
    Result<> add(std::span<const float> vector);

    std::uint64_t size() const noexcept { return norms_.size(); }

    /// Codes vectors with this transform instead of learning one from them: segments of one
    /// collection do this so that their codes can be joined. InvalidArgument if it is for other
    /// vectors.
    Result<> use(std::shared_ptr<const Transform> transform);

    /// Cancelled if told to stop. The same vectors give the same bytes, on any number of threads.
    Result<> write(store::SectionSink& sink, const BuildControl& control = {}) const;

private:
    explicit VectorsBuilder(const VectorsOptions& options) : options_(options) {}

    VectorsOptions options_;
    std::vector<std::byte> rows_;  // as they are stored
    std::vector<double> norms_;
    std::shared_ptr<const Transform> transform_;
};

}  // namespace braid::dense
