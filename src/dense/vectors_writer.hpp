#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "braid/dense/codes.hpp"
#include "braid/dense/transform.hpp"
#include "braid/dense/vectors_options.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

/// Vectors that are to be written, each of the dimension and precision of the options, and one that
/// their metric can compare. Asked by several threads at once.
class RowSource {
public:
    virtual ~RowSource() = default;

    virtual std::uint64_t size() const noexcept = 0;
    /// The bytes to be stored; valid as long as the source.
    virtual Result<std::span<const std::byte>> row(std::uint64_t row) const = 0;
    virtual Result<double> norm(std::uint64_t row) const = 0;
    /// The row's code by that transform, where it is there already.
    virtual Result<std::optional<Code>> code(std::uint64_t row, const Transform& by) const = 0;
};

/// Learns a transform from a sample of the rows, of which there must be some.
Result<std::shared_ptr<const Transform>> learn_transform(const RowSource& rows,
                                                         const VectorsOptions& options,
                                                         const BuildControl& control);

/// Writes every section that VectorsReader opens; codes only where there is a transform. Holds a
/// few megabytes, and the high bits of codes that were not there: 34 bytes a row, up to 32 MiB. The
/// same rows give the same bytes, on any number of threads. Cancelled if told to stop.
Result<> write_vectors(const RowSource& rows, const VectorsOptions& options,
                       const Transform* transform, store::SectionSink& sink,
                       const BuildControl& control);

}  // namespace braid::dense
