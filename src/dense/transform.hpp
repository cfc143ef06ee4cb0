#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "braid/dense/format.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

/// From a vector to the numbers that its code rounds: the mean is subtracted, the directions in
/// which a sample varied most are kept, and those are rotated at random so that all matter equally.
/// Trained once for a collection; codes made by equal transforms can be compared, joined and
/// copied. Immutable: safe for concurrent use.
class Transform {
public:
    /// `sample` holds vectors one after the other, of length 1 if the metric is cosine. The same
    /// sample and seed give the same transform. Cancelled if `stopped` says so. `rows` is how many
    /// vectors the sample was taken from, if known.
    static Result<Transform> train(std::span<const float> sample, std::size_t dimension,
                                   Metric metric, std::uint64_t seed,
                                   const std::function<bool()>& stopped, std::uint64_t rows = 0);

    /// Corruption unless `write` wrote it for such vectors. Reads only a few bytes: `load` verifies
    /// the rest.
    static Result<Transform> read(const store::SectionSource& source, const VectorsMeta& meta);
    Result<> write(store::SectionSink& sink) const;

    std::uint64_t id() const noexcept { return id_; }
    std::size_t dimension() const noexcept { return dimension_; }
    std::size_t code_dimensions() const noexcept { return code_dimensions_; }
    Metric metric() const noexcept { return metric_; }
    /// How many rows there were when it was trained; 0 if unknown.
    std::uint64_t learned_from() const noexcept { return learned_from_; }

    /// To be called before `project`: Corruption if the numbers are damaged.
    Result<> load() const;
    /// out = rotation * (scale * vector - mean), or without the mean. Requires load().
    void project(const float* vector, float scale, bool centred, float* out) const noexcept;
    /// About the same from bytes, of vector and rotation: a quarter of the memory, which is most of
    /// the time. For all that is rounded more coarsely afterwards.
    void project_by_bytes(const float* vector, float scale, bool centred, float* out) const;
    /// The rotated mean. Requires load().
    std::span<const float> projected_mean() const noexcept {
        return numbers().subspan(dimension_, code_dimensions_);
    }
    /// Half the squared distance of a vector from the mean.
    double half_square(const float* vector) const noexcept;

    /// What a block factor of 1, a line factor of 1 and an offset of 1 stand for.
    struct Scales {
        float block_factor = 1;
        float line_factor = 1;
        float offset = 1;
    };
    const Scales& scales() const noexcept { return scales_; }

private:
    /// The rotation in bytes: a number is its byte times its row's unit. Made when first needed.
    struct Bytes {
        std::once_flag made;
        std::size_t stride = 0;
        std::vector<std::int8_t> rows;
        std::vector<float> units;
    };
    const Bytes& bytes() const;
    std::span<const float> numbers() const noexcept;
    void learn_scales(std::span<const float> sample);
    void seal();

    std::size_t dimension_ = 0;
    std::size_t code_dimensions_ = 0;
    Metric metric_ = Metric::Cosine;
    Scales scales_;
    std::uint64_t id_ = 0;
    std::uint64_t learned_from_ = 0;
    std::vector<float> owned_;  // mean, projected mean, rotation; empty if they are in the section
    store::Section section_;
    std::shared_ptr<Bytes> bytes_ = std::make_shared<Bytes>();
};

/// The number of code dimensions for vectors of this dimension.
std::size_t code_dimensions_for(std::size_t dimension) noexcept;

}  // namespace braid::dense
