#include "braid/dense/exact_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>

#include "braid/kernels/dense.hpp"

namespace braid::dense {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kWord = 64;
// Above this, a sum of floats may have overflowed on the way.
constexpr double kLargest = 0x1p126;

/// Of a sum of n products in 64 accumulators: each term passes n / 64 + 8 roundings of the sum, and
/// the roundings of the term itself (three for a squared difference); a little more covers the
/// canonical score's own roundings, which are in double.
double relative_error_of(std::size_t n) noexcept {
    return (static_cast<double>(n / 64) + 13) * 0x1p-24 * 1.01;
}

// Bytes of rows to prefetch: a processor's own prefetching stops at a page boundary.
constexpr std::uint64_t kAhead = 4096;

void fetch(const std::byte* from, std::uint64_t bytes) noexcept {
    for (std::uint64_t byte = 0; byte < bytes; byte += 64) __builtin_prefetch(from + byte);
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
      // A product may underflow the smallest float; sums of floats do not.
      absolute_error_(static_cast<double>(vectors.meta().dimension) * 0x1p-148),
      limit_(-kInfinity) {}

Result<std::vector<VectorHit>> ExactSearch::run(Allowed allowed) {
    if (k_ == 0) return std::vector<VectorHit>();
    constexpr std::size_t kMany = kWord / 2;  // of a word: reading rows in between pays
    constexpr std::size_t kTogether = 1024;
    const std::uint64_t size = vectors_.size();
    std::vector<std::uint32_t> scattered;
    for (std::uint64_t first = 0; first < size; first += kWord) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kWord, size - first));
        std::uint64_t wanted = lowest_bits(count);
        if (!allowed.empty()) {
            const std::uint64_t word = first / kWord;
            wanted &= word < allowed.size() ? allowed[word] : 0;
        }
        if (wanted == 0) continue;  // most words of a narrow filter: counting bits is not free
        if (static_cast<std::size_t>(std::popcount(wanted)) >= std::min(kMany, count)) {
            BRAID_CHECK(look_at(first, count, wanted));
            continue;
        }
        for (; wanted != 0; wanted &= wanted - 1) {
            scattered.push_back(static_cast<std::uint32_t>(first) +
                                static_cast<std::uint32_t>(std::countr_zero(wanted)));
        }
        if (scattered.size() < kTogether) continue;
        BRAID_CHECK(look_at_each(scattered));
        scattered.clear();
    }
    BRAID_CHECK(look_at_each(scattered));
    return finish();
}

Result<std::vector<VectorHit>> ExactSearch::finish() {
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
    const std::uint64_t row_bytes = vectors_.meta().row_bytes();
    BRAID_TRY(const auto rows, vectors_.raw_rows(first, count));
    const std::size_t step = std::max<std::size_t>(kAhead / row_bytes, 1);
    for (std::size_t i = 0; i < count; i += step) {
        const std::size_t some = std::min(step, count - i);
        const std::byte* from = rows.data() + i * row_bytes;
        fetch(from + kAhead, some * row_bytes);
        approximate(from, some, approximations + i);
    }
    std::span<const double> norms;
    const bool distance = vectors_.meta().metric == Metric::Euclidean;
    if (!distance) {
        BRAID_TRY(norms, vectors_.norms(first, count));
    }
    for (std::uint64_t rest = wanted; rest != 0; rest &= rest - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(rest));
        consider(first + i, approximations[i], distance ? 0 : norms[i]);
    }
    return {};
}

Result<> ExactSearch::look_at_together(std::span<ExactSearch> searches, std::uint64_t first,
                                       std::size_t count) {
    constexpr std::size_t kTogether = 4;  // queries, as the kernel has it
    const StoredVectors& vectors = searches.front().vectors_;
    const std::size_t n = vectors.meta().dimension;
    BRAID_TRY(const auto bytes, vectors.raw_rows(first, count));
    BRAID_TRY(const auto norms, vectors.norms(first, count));
    const auto* rows = reinterpret_cast<const float*>(bytes.data());
    std::vector<float> wide;
    if (vectors.meta().precision != Precision::F32) {
        wide.resize(count * n);
        const std::size_t row_bytes = vectors.meta().row_bytes();
        for (std::size_t r = 0; r < count; ++r) {
            widen_row(vectors.meta().precision, bytes.subspan(r * row_bytes, row_bytes),
                      std::span(wide).subspan(r * n, n));
        }
        rows = wide.data();
    }
    std::array<float, kTogether * kWord> approximations;
    for (std::size_t q = 0; q < searches.size(); q += kTogether) {
        const auto some = searches.subspan(q, std::min(kTogether, searches.size() - q));
        std::array<const float*, kTogether> queries;
        for (std::size_t i = 0; i < kTogether; ++i) {  // the last one may be repeated
            queries[i] = some[std::min(i, some.size() - 1)].query_.vector.data();
        }
        kernels::dense_kernels().dot_f32_of_four(queries.data(), rows, n, count, n,
                                                 approximations.data());
        for (std::size_t i = 0; i < some.size(); ++i) {
            for (std::size_t r = 0; r < count; ++r) {
                some[i].consider(first + r, approximations[i * count + r], norms[r]);
            }
        }
    }
    return {};
}

Result<> ExactSearch::look_at_each(std::span<const std::uint32_t> rows) {
    const std::uint64_t row_bytes = vectors_.meta().row_bytes();
    const std::size_t ahead = kAhead / row_bytes + 1;
    const bool distance = vectors_.meta().metric == Metric::Euclidean;
    BRAID_TRY(const auto all, vectors_.raw_rows(0, 0));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i + ahead < rows.size()) fetch(all.data() + rows[i + ahead] * row_bytes, row_bytes);
        float approximation = 0;
        BRAID_TRY(const auto row, vectors_.raw_rows(rows[i], 1));
        approximate(row.data(), 1, &approximation);
        double norm = 0;
        if (!distance) {
            BRAID_TRY(norm, vectors_.norm(rows[i]));
        }
        consider(rows[i], approximation, norm);
    }
    return {};
}

void ExactSearch::consider(std::uint64_t row, float approximation, double norm) {
    double least = 0;
    double most = 0;
    if (vectors_.meta().metric == Metric::Euclidean) {
        bound_distance(approximation, least, most);
    } else {
        // Most rows are far off, which shows without dividing; twice the error leaves room for the
        // rounding of the bounds.
        const double lengths = query_.norm * norm;
        if (vectors_.meta().metric == Metric::Cosine && lengths < kLargest &&
            double{approximation} + 2 * error_of(lengths) < limit_ * lengths) {
            return;
        }
        bound_product(approximation, norm, least, most);
    }
    if (most >= limit_) offer(row, least, most);
}

void ExactSearch::approximate(const std::byte* from, std::size_t count, float* out) const noexcept {
    const VectorsMeta& meta = vectors_.meta();
    const kernels::DenseKernels& kernel = kernels::dense_kernels();
    const bool distance = meta.metric == Metric::Euclidean;
    const float* query = query_.vector.data();
    const std::size_t n = meta.dimension;
    switch (meta.precision) {
        case Precision::F32: {
            const auto* rows = reinterpret_cast<const float*>(from);
            return (distance ? kernel.distance_f32 : kernel.dot_f32)(query, rows, n, count, n, out);
        }
        case Precision::F16: {
            const auto* rows = reinterpret_cast<const std::uint16_t*>(from);
            return (distance ? kernel.distance_f16 : kernel.dot_f16)(query, rows, n, count, n, out);
        }
        case Precision::Int8: {
            const auto* rows = reinterpret_cast<const std::int8_t*>(from);
            return (distance ? kernel.distance_bytes : kernel.dot_bytes)(query, rows, count, n,
                                                                         out);
        }
    }
}

/// Bounds of minus the squared distance: it orders rows as minus the distance does, and the bounds
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
    const double error = error_of(lengths);
    if (vectors_.meta().metric == Metric::Dot) {
        least = product - error;
        most = product + error;
        return;
    }
    // No cosine exceeds 1 by more than the rounding of a division; lengths are never 0.
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
    // Capacity doubles, so what a row costs stays bounded on average, whatever comes.
    if (candidates_.size() >= 1024 && candidates_.size() == candidates_.capacity()) {
        forget_the_beaten();
    }
}

void ExactSearch::forget_the_beaten() {
    std::erase_if(candidates_, [&](const Candidate& one) { return one.most < limit_; });
}

}  // namespace braid::dense
