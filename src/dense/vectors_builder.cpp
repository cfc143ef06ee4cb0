#include "braid/dense/vectors_builder.hpp"

#include <string>

#include "braid/dense/exact_rows.hpp"
#include "braid/dense/stored_vectors.hpp"
#include "braid/dense/vectors_writer.hpp"

namespace braid::dense {
namespace {

/// What a builder holds: rows as they are stored, and lengths.
class HeldRows final : public RowSource {
public:
    HeldRows(std::span<const std::byte> rows, std::span<const double> norms) noexcept
        : rows_(rows), norms_(norms) {}

    std::uint64_t size() const noexcept override { return norms_.size(); }
    Result<std::span<const std::byte>> row(std::uint64_t row) const override {
        const std::size_t bytes = rows_.size() / norms_.size();
        return rows_.subspan(row * bytes, bytes);
    }
    Result<double> norm(std::uint64_t row) const override { return norms_[row]; }
    Result<std::optional<Code>> code(std::uint64_t, const Transform&) const override {
        return std::optional<Code>();
    }

private:
    std::span<const std::byte> rows_;
    std::span<const double> norms_;
};

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
    std::vector<float> kept;
    if (options_.precision != Precision::F32) {
        kept.assign(vector.begin(), vector.end());
        round_to(options_.precision, kept);
        if (auto checked = check_vector(kept, options_.dimension, options_.metric); !checked) {
            return fail(rounded_as(options_.precision), std::move(checked).error());
        }
        vector = kept;
    }
    store_row(options_.precision, vector, rows_);
    norms_.push_back(norm(vector));
    return {};
}

Result<> VectorsBuilder::use(std::shared_ptr<const Transform> transform) {
    if (transform->dimension() != options_.dimension || transform->metric() != options_.metric) {
        return invalid_argument("this transform is for vectors of another dimension or metric");
    }
    BRAID_CHECK(transform->load());
    transform_ = std::move(transform);
    return {};
}

Result<> VectorsBuilder::write(store::SectionSink& sink, const BuildControl& control) const {
    const HeldRows rows(rows_, norms_);
    std::shared_ptr<const Transform> transform;
    if (size() > 0 && size() >= options_.codes_from) {
        transform = transform_;
        if (transform == nullptr) {
            BRAID_TRY(transform, learn_transform(rows, options_, control));
        }
    }
    return write_vectors(rows, options_, transform.get(), sink, control);
}

}  // namespace braid::dense
