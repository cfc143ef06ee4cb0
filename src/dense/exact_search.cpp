#include "braid/dense/exact_search.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

#include "braid/kernels/dense.hpp"

namespace braid::dense {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kWord = 64;
// Above this a sum of floats may have overflowed on the way.
constexpr double kLargest = 0x1p126;

/// Of a sum of n products in 64 accumulators: each term passes n / 64 + 8 roundings of the sum, and
/// the roundings of the term itself (three for a squared difference); a little more covers the
/// canonical score's own roundings, which are in double.
double relative_error_of(std::size_t n) noexcept {
    return (static_cast<double>(n / 64) + 13) * 0x1p-24 * 1.01;
}

std::uint64_t lowest_bits(std::size_t count) noexcept {
    return count >= kWord ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

ExactSearch::ExactSearch(const StoredVectors& vectors, const ExactQuery& query, std::size_t k)
    : vectors_(vectors),
      query_(query),
      k_(k),
      relative_error_(relative_error_of(vectors.meta().dimension)),
      // A product may fall below the smallest float; sums of floats do not.
      absolute_error_(static_cast<double>(vectors.meta().dimension) * 0x1p-148),
      limit_(-kInfinity) {}

Result<std::vector<VectorHit>> ExactSearch::run(Allowed allowed) {
    if (k_ == 0) return std::vector<VectorHit>();
    const std::uint64_t size = vectors_.size();
    for (std::uint64_t first = 0; first < size; first += kWord) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kWord, size - first));
        std::uint64_t wanted = lowest_bits(count);
        if (!allowed.empty()) {
            const std::uint64_t word = first / kWord;
            wanted &= word < allowed.size() ? allowed[word] : 0;
        }
        if (wanted == 0) continue;
        BRAID_CHECK(look_at(first, count, wanted));
    }
    forget_the_beaten();
    std::vector<std::uint32_t> rows(candidates_.size());
    std::ranges::transform(candidates_, rows.begin(), &Candidate::row);
    std::vector<double> scores(rows.size());
    BRAID_CHECK(vectors_.score(query_, rows, scores));
    std::vector<VectorHit> hits(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) hits[i] = {rows[i], scores[i]};
    return best_of(std::move(hits), k_);
}

Result<> ExactSearch::look_at(std::uint64_t first, std::size_t count, std::uint64_t wanted) {
    float approximations[kWord];
    if (wanted == lowest_bits(count)) {
        BRAID_CHECK(approximate(first, count, approximations));
    } else {
        for (std::uint64_t rest = wanted; rest != 0;) {  // one run of set bits after the other
            const auto begin = static_cast<std::size_t>(std::countr_zero(rest));
            const auto length = static_cast<std::size_t>(std::countr_one(rest >> begin));
            BRAID_CHECK(approximate(first + begin, length, approximations + begin));
            rest &= ~(lowest_bits(length) << begin);
        }
    }
    std::span<const double> norms;
    const bool distance = vectors_.meta().metric == Metric::Euclidean;
    if (!distance) {
        BRAID_TRY(norms, vectors_.norms(first, count));
    }
    for (std::uint64_t rest = wanted; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(rest));
        double least = 0;
        double most = 0;
        if (distance) {
            bound_distance(approximations[i], least, most);
        } else {
            bound_product(approximations[i], norms[i], least, most);
        }
        if (most >= limit_) offer(first + i, least, most);
    }
    return {};
}

Result<> ExactSearch::approximate(std::uint64_t first, std::size_t count, float* out) const {
    const VectorsMeta& meta = vectors_.meta();
    const kernels::DenseKernels& kernel = kernels::dense_kernels();
    BRAID_TRY(const auto bytes, vectors_.raw_rows(first, count));
    const bool distance = meta.metric == Metric::Euclidean;
    const float* query = query_.vector.data();
    const std::size_t n = meta.dimension;
    if (meta.precision == Precision::F32) {
        const auto* rows = reinterpret_cast<const float*>(bytes.data());
        (distance ? kernel.distance_f32 : kernel.dot_f32)(query, rows, n, count, n, out);
    } else {
        const auto* rows = reinterpret_cast<const std::uint16_t*>(bytes.data());
        (distance ? kernel.distance_f16 : kernel.dot_f16)(query, rows, n, count, n, out);
    }
    return {};
}

/// Bounds of minus the squared distance: its order is that of minus the distance, and the bounds
/// leave room for the rounding of the root.
void ExactSearch::bound_distance(float approximate, double& least, double& most) const noexcept {
    const auto square = static_cast<double>(approximate);
    if (!(square < kLargest)) {
        least = -kInfinity;
        most = kInfinity;
        return;
    }
    const double error = square * relative_error_ + absolute_error_;
    least = -square - error;
    most = -square + error;
}

void ExactSearch::bound_product(float approximate, double norm, double& least,
                                double& most) const noexcept {
    const double lengths = query_.norm * norm;
    if (!(lengths < kLargest)) {
        least = -kInfinity;
        most = kInfinity;
        return;
    }
    const auto product = static_cast<double>(approximate);
    const double error = lengths * relative_error_ + absolute_error_;
    if (vectors_.meta().metric == Metric::Dot) {
        least = product - error;
        most = product + error;
        return;
    }
    // No cosine is above 1 by more than the rounding of a division; lengths are never 0.
    least = (product - error) / lengths;
    most = (product + error) / lengths;
}

void ExactSearch::offer(std::uint64_t row, double least, double most) {
    candidates_.push_back({static_cast<std::uint32_t>(row), most});
    if (least_.size() < k_ || least > least_.front()) {
        if (least_.size() == k_) {
            std::ranges::pop_heap(least_, std::greater<>());
            least_.pop_back();
        }
        least_.push_back(least);
        std::ranges::push_heap(least_, std::greater<>());
        if (least_.size() == k_) limit_ = least_.front();
    }
    // The room kept doubles the work that a row can cause, whatever comes.
    if (candidates_.size() >= 1024 && candidates_.size() == candidates_.capacity()) {
        forget_the_beaten();
    }
}

void ExactSearch::forget_the_beaten() {
    std::erase_if(candidates_, [&](const Candidate& one) { return one.most < limit_; });
}

}  // namespace braid::dense
