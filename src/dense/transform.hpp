#pragma once

#include <array>
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
/// which a sample varied most are kept, and those are rotated at random so that all matter alike.
/// Trained once for a collection; codes of equal transforms can be compared, joined and copied.
/// Immutable: safe for concurrent use.
class Transform {
public:
    /// `sample` holds vectors one after the other, of length 1 where the metric is cosine. The same
    /// sample and seed give the same transform. Cancelled where `stopped` said so. `rows` is how
    /// many the sample is of, where it is known.
    static Result<Transform> train(std::span<const float> sample, std::size_t dimension,
                                   Metric metric, std::uint64_t seed,
                                   const std::function<bool()>& stopped, std::uint64_t rows = 0);

    /// Corruption unless it is one that `write` wrote for such vectors. Reads a few bytes only: the
    /// rest is verified by `load`.
    static Result<Transform> read(const store::SectionSource& source, const VectorsMeta& meta);
    Result<> write(store::SectionSink& sink) const;

    std::uint64_t id() const noexcept { return id_; }
    std::size_t dimension() const noexcept { return dimension_; }
    std::size_t code_dimensions() const noexcept { return code_dimensions_; }
    Metric metric() const noexcept { return metric_; }
    /// Rows there were when it was trained; 0 if that is not known.
    std::uint64_t learned_from() const noexcept { return learned_from_; }

    /// What is to be asked before `project`: Corruption if the numbers are damaged.
    Result<> load() const;
    /// out = rotation * (scale * vector - mean), or without the mean. Requires load().
    void project(const float* vector, float scale, bool centred, float* out) const noexcept;
    /// The same for four vectors, one after the other in `out`: the rotation is read once.
    void project_four(const std::array<const float*, 4>& vectors,
                      const std::array<float, 4>& scales, bool centred, float* out) const noexcept;
    /// About the same, for queries: from bytes, a quarter of the memory, which is most of the time.
    void project_query(const float* vector, float scale, bool centred, float* out) const;
    /// The rotated mean. Requires load().
    std::span<const float> projected_mean() const noexcept {
        return numbers().subspan(dimension_, code_dimensions_);
    }
    /// Half the squared distance of a vector from the mean.
    double half_square(const float* vector) const noexcept;

    /// What a factor of 1 of the blocks, a factor of 1 of the lines and an offset of 1 stand for.
    struct Scales {
        float block_factor = 1;
        float line_factor = 1;
        float offset = 1;
    };
    const Scales& scales() const noexcept { return scales_; }

private:
    /// The rotation in bytes: a row's number is its byte times the row's unit. Made when it is
    /// first asked for.
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
    std::vector<float> owned_;  // mean, projected mean, rotation; empty if they lie in the section
    store::Section section_;
    std::shared_ptr<Bytes> bytes_ = std::make_shared<Bytes>();
};

/// The dimensions of the codes of vectors of that dimension.
std::size_t code_dimensions_for(std::size_t dimension) noexcept;

}  // namespace braid::dense
