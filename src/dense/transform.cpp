#include "braid/dense/transform.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "braid/dense/codes.hpp"
#include "braid/dense/subspace.hpp"
#include "braid/kernels/dense.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"

namespace braid::dense {
namespace {

constexpr std::size_t kHeadBytes = 64;

/// Mean, projected mean, rotation.
std::size_t number_count(std::size_t dimension, std::size_t code_dimensions) noexcept {
    return dimension + code_dimensions + dimension * code_dimensions;
}

std::vector<float> mean_of(std::span<const float> sample, std::size_t dimension) {
    std::vector<double> sums(dimension);
    const std::size_t count = sample.size() / dimension;
    for (std::size_t i = 0; i < sample.size(); ++i) sums[i % dimension] += double{sample[i]};
    std::vector<float> mean(dimension);
    for (std::size_t i = 0; i < dimension; ++i) {
        mean[i] = count == 0 ? 0 : static_cast<float>(sums[i] / static_cast<double>(count));
    }
    return mean;
}

/// A row of dimension numbers for each code dimension, of which there must be no fewer than
/// dimensions.
std::vector<float> rotation_that_widens(std::size_t dimension, std::size_t code_dimensions,
                                        SeededNumbers& numbers) {
    const std::vector<float> columns = random_directions(dimension, code_dimensions, numbers);
    std::vector<float> rotation(columns.size());
    for (std::size_t i = 0; i < dimension; ++i) {
        for (std::size_t j = 0; j < code_dimensions; ++j) {
            rotation[j * dimension + i] = columns[i * code_dimensions + j];
        }
    }
    return rotation;
}

bool is_scale(float value) noexcept {
    return value > 1e-36F && value < 1e36F;
}

}  // namespace

std::size_t code_dimensions_for(std::size_t dimension) noexcept {
    const std::size_t chunks = (dimension + kernels::kCodeChunk - 1) / kernels::kCodeChunk;
    return std::min(kernels::kCodeDimensions, chunks * kernels::kCodeChunk);
}

Result<Transform> Transform::train(std::span<const float> sample, std::size_t dimension,
                                   Metric metric, std::uint64_t seed,
                                   const std::function<bool()>& stopped, std::uint64_t rows) {
    Transform transform;
    transform.learned_from_ = rows;
    transform.dimension_ = dimension;
    transform.code_dimensions_ = code_dimensions_for(dimension);
    transform.metric_ = metric;
    const std::size_t m = transform.code_dimensions_;
    SeededNumbers numbers(seed);
    const std::vector<float> mean = mean_of(sample, dimension);
    std::vector<float> rotation;
    if (dimension <= m) {
        rotation = rotation_that_widens(dimension, m, numbers);
    } else {
        auto directions = principal_directions(sample, mean, m, numbers, stopped);
        if (!directions) {
            return fail(ErrorCode::Cancelled, "learning codes for vectors was stopped");
        }
        rotation = *std::move(directions);
    }
    std::vector<float> projected_mean(m);
    kernels::dense_kernels().dot_f32(mean.data(), rotation.data(), dimension, m, dimension,
                                     projected_mean.data());
    std::vector<float>& all = transform.owned_;
    all.reserve(number_count(dimension, m));
    all.insert(all.end(), mean.begin(), mean.end());
    all.insert(all.end(), projected_mean.begin(), projected_mean.end());
    all.insert(all.end(), rotation.begin(), rotation.end());
    transform.learn_scales(sample);
    transform.seal();
    return transform;
}

void Transform::learn_scales(std::span<const float> sample) {
    constexpr float kRoom = 1.5F;  // for vectors outside the sample
    std::array<float, kernels::kCodeDimensions> projected{};
    float block = 0;
    float offset = 0;
    double line = 0;
    const std::size_t count = sample.size() / dimension_;
    for (std::size_t r = 0; r < count; ++r) {
        Code code;
        const float* vector = sample.data() + r * dimension_;
        project(vector, 1, true, projected.data());
        const RawCode raw = quantise(*this, vector, projected, code);
        block = std::max(block, raw.block_factor);
        offset = std::max(offset, raw.offset);
        line += double{raw.line_factor} / static_cast<double>(count);
    }
    const auto usable = [](float value) { return is_scale(value) ? value : 1.0F; };
    scales_ = {usable(block * kRoom), usable(static_cast<float>(line)), usable(offset * kRoom)};
}

void Transform::seal() {
    const std::array<float, 3> scales{scales_.block_factor, scales_.line_factor, scales_.offset};
    id_ = store::checksum(std::as_bytes(std::span(owned_))) ^
          store::checksum(std::as_bytes(std::span(scales)));
    id_ += id_ == 0 ? 1 : 0;
}

Result<> Transform::write(store::SectionSink& sink) const {
    BRAID_CHECK(load());
    store::ByteWriter head;
    head.u32(static_cast<std::uint32_t>(dimension_));
    head.u32(static_cast<std::uint32_t>(code_dimensions_));
    head.u64(id_);
    head.f32(scales_.block_factor);
    head.f32(scales_.line_factor);
    head.f32(scales_.offset);
    head.u32(0);
    head.u64(learned_from_);
    head.pad_to(kHeadBytes);
    BRAID_CHECK(sink.begin(kTransformSection));
    BRAID_CHECK(sink.write(head.view()));
    return sink.write(std::as_bytes(numbers()));
}

Result<Transform> Transform::read(const store::SectionSource& source, const VectorsMeta& meta) {
    Transform transform;
    transform.dimension_ = meta.dimension;
    transform.code_dimensions_ = meta.code_dimensions;
    transform.metric_ = meta.metric;
    const std::uint64_t bytes =
        kHeadBytes + 4 * number_count(transform.dimension_, transform.code_dimensions_);
    BRAID_TRY(transform.section_, section_of_size(source, kTransformSection, bytes));
    BRAID_TRY(const auto head, transform.section_.bytes(0, kHeadBytes));
    store::ByteReader reader(head, kTransformSection);
    BRAID_TRY(const auto dimension, reader.u32("the dimension"));
    BRAID_TRY(const auto code_dimensions, reader.u32("the dimension of codes"));
    BRAID_TRY(transform.id_, reader.u64("the id"));
    if (dimension != meta.dimension || code_dimensions != meta.code_dimensions ||
        transform.id_ != meta.transform_id) {
        return reader.corrupt("this transform belongs to other vectors");
    }
    Scales& scales = transform.scales_;
    BRAID_TRY(scales.block_factor, reader.f32("a scale"));
    BRAID_TRY(scales.line_factor, reader.f32("a scale"));
    BRAID_TRY(scales.offset, reader.f32("a scale"));
    BRAID_TRY([[maybe_unused]] const auto zero, reader.u32("four bytes of zero"));
    BRAID_TRY(transform.learned_from_, reader.u64("the rows it was learned from"));
    if (!is_scale(scales.block_factor) || !is_scale(scales.line_factor) ||
        !is_scale(scales.offset)) {
        return reader.corrupt("an impossible scale");
    }
    return transform;
}

Result<> Transform::load() const {
    if (!owned_.empty()) return {};
    BRAID_TRY([[maybe_unused]] const auto bytes, section_.bytes());
    return {};
}

std::span<const float> Transform::numbers() const noexcept {
    if (!owned_.empty()) return owned_;
    const auto bytes = section_.bytes();  // verified before, by load()
    if (!bytes) return {};
    return {reinterpret_cast<const float*>(bytes->data() + kHeadBytes),
            number_count(dimension_, code_dimensions_)};
}

void Transform::project(const float* vector, float scale, bool centred, float* out) const noexcept {
    const float* projected_mean = numbers().data() + dimension_;
    const float* rotation = projected_mean + code_dimensions_;
    kernels::dense_kernels().dot_f32(vector, rotation, dimension_, code_dimensions_, dimension_,
                                     out);
    for (std::size_t i = 0; i < code_dimensions_; ++i) {
        out[i] = out[i] * scale - (centred ? projected_mean[i] : 0);
    }
}

namespace {

/// Rounds the numbers to bytes; returns what 1 stands for.
float to_bytes(std::span<const float> numbers, std::int8_t* to) noexcept {
    float largest = 0;
    for (const float number : numbers) largest = std::max(largest, std::abs(number));
    if (!(largest > 1e-36F && largest <= std::numeric_limits<float>::max())) {
        std::fill_n(to, numbers.size(), std::int8_t{0});
        return largest > 1e-36F ? std::numeric_limits<float>::quiet_NaN() : 0;
    }
    const float scale = 127 / largest;
    constexpr float kRound = 0x1.8p23F;  // the sum has no room for fractions: to nearest, even
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        to[i] = static_cast<std::int8_t>(numbers[i] * scale + kRound - kRound);
    }
    return largest / 127;
}

}  // namespace

const Transform::Bytes& Transform::bytes() const {
    constexpr std::size_t kLine = 64;
    std::call_once(bytes_->made, [&] {
        const auto rotation = numbers().subspan(dimension_ + code_dimensions_);
        bytes_->stride = (dimension_ + kLine - 1) / kLine * kLine;
        bytes_->rows.resize(code_dimensions_ * bytes_->stride);
        bytes_->units.resize(code_dimensions_);
        for (std::size_t i = 0; i < code_dimensions_; ++i) {
            bytes_->units[i] = to_bytes(rotation.subspan(i * dimension_, dimension_),
                                        bytes_->rows.data() + i * bytes_->stride);
        }
    });
    return *bytes_;
}

void Transform::project_by_bytes(const float* vector, float scale, bool centred, float* out) const {
    const Bytes& rotation = bytes();
    std::vector<std::int8_t> query(rotation.stride);
    const float unit = to_bytes({vector, dimension_}, query.data());
    std::array<std::uint32_t, kernels::kCodeDimensions> rows{};
    std::iota(rows.begin(), rows.end(), 0U);
    std::array<std::int32_t, kernels::kCodeDimensions> products{};
    kernels::dense_kernels().dot_i8_rows(query.data(), rotation.rows.data(), rotation.stride,
                                         rows.data(), code_dimensions_, dimension_,
                                         products.data());
    const auto mean = projected_mean();
    for (std::size_t i = 0; i < code_dimensions_; ++i) {
        out[i] = static_cast<float>(products[i]) * rotation.units[i] * unit * scale -
                 (centred ? mean[i] : 0);
    }
}

double Transform::half_square(const float* vector) const noexcept {
    return kernels::kernels().squared_distance(vector, numbers().data(), dimension_) / 2;
}

}  // namespace braid::dense
