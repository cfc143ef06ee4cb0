#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "braid/dense/format.hpp"
#include "braid/dense/transform.hpp"
#include "braid/result.hpp"
#include "braid/store/sections.hpp"

namespace braid::dense {

struct VectorsOptions {
    std::size_t dimension = 0;
    Metric metric = Metric::Cosine;
    Precision precision = Precision::F32;
    std::uint64_t codes_from = 1024;  // fewer vectors are searched exactly, and get no codes
    std::uint64_t seed = 1;           // of the transform
};

/// How a long build is watched and stopped.
struct BuildControl {
    std::stop_token stop;
    std::function<void(double done)> progress;  // from 0 to 1, from one thread at a time
};

/// Collects vectors in memory and writes them as the sections that VectorsReader opens. Rows count
/// from 0. Not safe for concurrent use; writing uses all cores.
class VectorsBuilder {
public:
    /// InvalidArgument unless the dimension is 1 to 4096.
    static Result<VectorsBuilder> create(const VectorsOptions& options);

    /// InvalidArgument, and nothing added, if the vector has another dimension, a number that is
    /// not finite or that the precision cannot hold, or, under cosine, only zeros (as stored).
    Result<> add(std::span<const float> vector);

    std::uint64_t size() const noexcept { return norms_.size(); }

    /// Codes vectors by this transform instead of learning one from them: what segments of one
    /// collection do, so that their codes can be joined. InvalidArgument if it is for other
    /// vectors.
    Result<> use(std::shared_ptr<const Transform> transform);

    /// Cancelled if told to stop. The same vectors give the same bytes, on any number of threads.
    Result<> write(store::SectionSink& sink, const BuildControl& control = {}) const;

private:
    explicit VectorsBuilder(const VectorsOptions& options) : options_(options) {}
    Result<> write_rows(store::SectionSink& sink, const BuildControl& control) const;
    Result<> write_codes(const Transform& transform, store::SectionSink& sink,
                         const BuildControl& control) const;
    Result<std::shared_ptr<const Transform>> learn(const BuildControl& control) const;
    void copy_row(std::uint64_t row, std::span<float> to) const;

    VectorsOptions options_;
    std::vector<float> rows_f32_;  // one of the two, by precision
    std::vector<std::uint16_t> rows_f16_;
    std::vector<double> norms_;
    std::shared_ptr<const Transform> transform_;
};

}  // namespace braid::dense
