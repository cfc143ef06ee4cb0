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

/// Vectors to be written, each with the dimension and precision of the options and comparable under
/// their metric. Called from several threads at once.
class RowSource {
public:
    virtual ~RowSource() = default;

    virtual std::uint64_t size() const noexcept = 0;
    /// The bytes to be stored; valid as long as the source.
    virtual Result<std::span<const std::byte>> row(std::uint64_t row) const = 0;
    virtual Result<double> norm(std::uint64_t row) const = 0;
    /// The row's code under that transform, if it exists already.
    virtual Result<std::optional<Code>> code(std::uint64_t row, const Transform& by) const = 0;
};

/// Learns a transform from a sample of the rows; there must be at least one.
Result<std::shared_ptr<const Transform>> learn_transform(const RowSource& rows,
                                                         const VectorsOptions& options,
                                                         const BuildControl& control);

/// Writes every section that VectorsReader opens; codes only if there is a transform. Holds a few
/// megabytes, plus the high bits of newly made codes: 34 bytes a row, up to 32 MiB. The same rows
/// give the same bytes, on any number of threads. Cancelled if told to stop.
Result<> write_vectors(const RowSource& rows, const VectorsOptions& options,
                       const Transform* transform, store::SectionSink& sink,
                       const BuildControl& control);

}  // namespace braid::dense
