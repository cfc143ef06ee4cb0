#include "braid/dense/vectors_builder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>

#include "braid/core/parallel.hpp"
#include "braid/dense/codes.hpp"
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

Result<> write_code_sections(std::span<const Code> codes, const Transform& transform,
                             store::SectionSink& sink) {
    BRAID_CHECK(sink.begin(kLinesSection));
    for (const Code& code : codes) BRAID_CHECK(sink.write(std::as_bytes(std::span(code.line))));
    BRAID_CHECK(sink.begin(kBlocksSection));
    const bool offsets = transform.metric() == Metric::Euclidean;
    const std::size_t dimensions = transform.code_dimensions();
    std::vector<std::uint8_t> block(kernels::block_bytes(dimensions, offsets));
    for (std::size_t first = 0; first < codes.size(); first += kernels::kBlockVectors) {
        std::ranges::fill(block, std::uint8_t{0});
        const std::size_t count = std::min(kernels::kBlockVectors, codes.size() - first);
        for (std::size_t i = 0; i < count; ++i) {
            put_into_block(codes[first + i], i, dimensions, offsets, block);
        }
        BRAID_CHECK(sink.write(std::as_bytes(std::span(block))));
    }
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

Result<> VectorsBuilder::use(std::shared_ptr<const Transform> transform) {
    if (transform->dimension() != options_.dimension || transform->metric() != options_.metric) {
        return invalid_argument("this transform codes vectors of another dimension or metric");
    }
    BRAID_CHECK(transform->load());
    transform_ = std::move(transform);
    return {};
}

Result<> VectorsBuilder::write(store::SectionSink& sink, const BuildControl& control) const {
    VectorsMeta meta;
    meta.count = size();
    meta.dimension = static_cast<std::uint32_t>(options_.dimension);
    meta.metric = options_.metric;
    meta.precision = options_.precision;
    BRAID_CHECK(go_on(control, 0));
    std::shared_ptr<const Transform> transform;
    if (size() > 0 && size() >= options_.codes_from) {
        transform = transform_;
        if (transform == nullptr) {
            BRAID_TRY(transform, learn(control));
        }
        meta.code_dimensions = static_cast<std::uint32_t>(transform->code_dimensions());
        meta.transform_id = transform->id();
    }
    BRAID_CHECK(write_meta(meta, sink));
    BRAID_CHECK(write_rows(sink, control));
    if (transform != nullptr) BRAID_CHECK(write_codes(*transform, sink, control));
    return go_on(control, 1);
}

void VectorsBuilder::copy_row(std::uint64_t row, std::span<float> to) const {
    const std::size_t at = row * options_.dimension;
    if (options_.precision == Precision::F32) {
        std::copy_n(rows_f32_.data() + at, options_.dimension, to.data());
    } else {
        kernels::dense_kernels().widen(rows_f16_.data() + at, options_.dimension, to.data());
    }
}

Result<std::shared_ptr<const Transform>> VectorsBuilder::learn(const BuildControl& control) const {
    const std::uint64_t wanted = options_.dimension > 1024 ? 4096 : 8192;
    const std::uint64_t count = std::min(size(), wanted);
    std::vector<float> sample(count * options_.dimension);
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t row = i * size() / count;
        const auto to = std::span(sample).subspan(i * options_.dimension, options_.dimension);
        copy_row(row, to);
        if (options_.metric != Metric::Cosine) continue;
        const auto scale = static_cast<float>(1 / norms_[row]);
        for (float& x : to) x *= scale;
    }
    BRAID_TRY(Transform transform,
              Transform::train(sample, options_.dimension, options_.metric, options_.seed,
                               [&] { return control.stop.stop_requested(); }));
    return std::make_shared<const Transform>(std::move(transform));
}

Result<> VectorsBuilder::write_codes(const Transform& transform, store::SectionSink& sink,
                                     const BuildControl& control) const {
    constexpr std::uint64_t kPiece = 1024;
    BRAID_CHECK(transform.write(sink));
    std::vector<Code> codes(size());
    const std::uint64_t pieces = (size() + kPiece - 1) / kPiece;
    std::atomic<std::uint64_t> done = 0;
    std::mutex reporting;
    core::run_computing(pieces, [&](std::size_t piece) {
        if (control.stop.stop_requested()) return;
        std::vector<float> row(options_.dimension);
        std::array<float, kernels::kCodeDimensions> scratch{};
        const std::uint64_t end = std::min(size(), (piece + 1) * kPiece);
        for (std::uint64_t i = piece * kPiece; i < end; ++i) {
            copy_row(i, row);
            codes[i] = encode(transform, row.data(), norms_[i], scratch);
        }
        const std::scoped_lock lock(reporting);
        const auto share = static_cast<double>(++done) / static_cast<double>(pieces);
        if (control.progress) control.progress(share * 0.95);
    });
    BRAID_CHECK(go_on(control, 0.95));
    return write_code_sections(codes, transform, sink);
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
