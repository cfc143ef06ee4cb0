#include "braid/dense/vectors_builder.hpp"

#include <algorithm>
#include <string>

#include "braid/dense/exact_rows.hpp"
#include "braid/dense/stored_vectors.hpp"
#include "braid/kernels/dense.hpp"

namespace braid::dense {
namespace {

Result<> go_on(const BuildControl& control, double done) {
    if (control.stop.stop_requested()) {
        return fail(ErrorCode::Cancelled, "building the index of vectors was stopped");
    }
    if (control.progress) control.progress(done);
    return {};
}

}  // namespace

Result<VectorsBuilder> VectorsBuilder::create(const VectorsOptions& options) {
    if (options.dimension == 0 || options.dimension > kMaxDimension) {
        return invalid_argument("vectors of dimension " + std::to_string(options.dimension) +
                                "; it must be from 1 to " + std::to_string(kMaxDimension));
    }
    return VectorsBuilder(options);
}

Result<> VectorsBuilder::add(std::span<const float> vector) {
    if (size() == kMaxVectors) return invalid_argument("no more vectors fit into one index");
    BRAID_CHECK(check_vector(vector, options_.dimension, options_.metric));
    if (options_.precision == Precision::F32) {
        rows_f32_.insert(rows_f32_.end(), vector.begin(), vector.end());
        norms_.push_back(norm(vector));
        return {};
    }
    std::vector<std::uint16_t> halves(vector.size());
    std::vector<float> kept(vector.size());
    const kernels::DenseKernels& kernel = kernels::dense_kernels();
    kernel.narrow(vector.data(), vector.size(), halves.data());
    kernel.widen(halves.data(), halves.size(), kept.data());
    if (auto checked = check_vector(kept, options_.dimension, options_.metric); !checked) {
        return fail("as 16-bit numbers", std::move(checked).error());
    }
    rows_f16_.insert(rows_f16_.end(), halves.begin(), halves.end());
    norms_.push_back(norm(kept));
    return {};
}

Result<> VectorsBuilder::write(store::SectionSink& sink, const BuildControl& control) const {
    VectorsMeta meta;
    meta.count = size();
    meta.dimension = static_cast<std::uint32_t>(options_.dimension);
    meta.metric = options_.metric;
    meta.precision = options_.precision;
    BRAID_CHECK(go_on(control, 0));
    BRAID_CHECK(write_meta(meta, sink));
    BRAID_CHECK(write_rows(sink, control));
    return go_on(control, 1);
}

Result<> VectorsBuilder::write_rows(store::SectionSink& sink, const BuildControl& control) const {
    constexpr std::size_t kPiece = std::size_t{8} << 20;
    BRAID_CHECK(sink.begin(kRowsSection));
    const auto bytes = options_.precision == Precision::F32 ? std::as_bytes(std::span(rows_f32_))
                                                            : std::as_bytes(std::span(rows_f16_));
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
        BRAID_CHECK(go_on(control, 0));
        BRAID_CHECK(sink.write(bytes.subspan(at, std::min(kPiece, bytes.size() - at))));
    }
    BRAID_CHECK(sink.begin(kNormsSection));
    return sink.write(std::as_bytes(std::span(norms_)));
}

}  // namespace braid::dense
