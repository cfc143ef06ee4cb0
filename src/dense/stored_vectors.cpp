#include "braid/dense/stored_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "braid/dense/exact_rows.hpp"
#include "braid/dense/exact_search.hpp"
#include "braid/kernels/kernels.hpp"

namespace braid::dense {
namespace {

constexpr std::size_t kFetched = 6;     // rows being fetched from memory
constexpr std::size_t kAnnounced = 16;  // rows whose pages are being looked up

}  // namespace

Result<> check_vector(std::span<const float> vector, std::size_t dimension, Metric metric) {
    if (vector.size() != dimension) {
        return invalid_argument("a vector of " + std::to_string(vector.size()) +
                                " numbers where the dimension is " + std::to_string(dimension));
    }
    bool zero = true;
    for (std::size_t i = 0; i < vector.size(); ++i) {
        if (!std::isfinite(vector[i])) {
            return invalid_argument("number " + std::to_string(i) + " of the vector is not finite");
        }
        zero = zero && vector[i] == 0;
    }
    if (zero && metric == Metric::Cosine) {
        return invalid_argument("a vector of zeros has no direction, so no cosine");
    }
    return {};
}

std::vector<VectorHit> best_of(std::vector<VectorHit> hits, std::size_t k) {
    if (k < hits.size()) {
        const auto end = hits.begin() + static_cast<std::ptrdiff_t>(k);
        std::nth_element(hits.begin(), end, hits.end(), better);
        hits.resize(k);
    }
    std::sort(hits.begin(), hits.end(), better);
    return hits;
}

Result<StoredVectors> StoredVectors::open(const VectorsMeta& meta,
                                          const store::SectionSource& source) {
    StoredVectors vectors;
    vectors.meta_ = meta;
    BRAID_TRY(vectors.rows_, section_of_size(source, kRowsSection, meta.count * meta.row_bytes()));
    BRAID_TRY(vectors.norms_, section_of_size(source, kNormsSection, meta.count * sizeof(double)));
    return vectors;
}

Result<ExactQuery> StoredVectors::query(std::span<const float> vector) const {
    BRAID_CHECK(check_vector(vector, meta_.dimension, meta_.metric));
    return ExactQuery{vector, dense::norm(vector)};
}

Result<std::span<const std::byte>> StoredVectors::raw_rows(std::uint64_t first,
                                                           std::uint64_t count) const {
    return rows_.bytes(first * meta_.row_bytes(), count * meta_.row_bytes());
}

Result<std::span<const double>> StoredVectors::norms(std::uint64_t first,
                                                     std::uint64_t count) const {
    BRAID_TRY(const auto bytes, norms_.bytes(first * sizeof(double), count * sizeof(double)));
    return std::span(reinterpret_cast<const double*>(bytes.data()), count);
}

Result<double> StoredVectors::norm(std::uint32_t row) const {
    BRAID_TRY(const auto one, norms(row, 1));
    return one[0];
}

Result<> StoredVectors::copy_row(std::uint32_t row, std::span<float> to) const {
    BRAID_TRY(const auto bytes, raw_rows(row, 1));
    widen_row(meta_.precision, bytes, to.first(meta_.dimension));
    return {};
}

void StoredVectors::fetch(std::uint32_t row) const noexcept {
    const std::byte* const first = rows_.place() + row * meta_.row_bytes();
    const std::uint64_t bytes = std::min<std::uint64_t>(meta_.row_bytes(), 2048);
    for (std::uint64_t byte = 0; byte < bytes; byte += 64) __builtin_prefetch(first + byte);
    __builtin_prefetch(norms_.place() + row * sizeof(double));
}

Result<double> StoredVectors::score_of(const ExactQuery& query, std::uint32_t row,
                                       std::span<float> wide) const {
    const kernels::Kernels& kernel = kernels::kernels();
    BRAID_TRY(const auto bytes, raw_rows(row, 1));
    const auto* numbers = reinterpret_cast<const float*>(bytes.data());
    if (meta_.precision != Precision::F32) {
        widen_row(meta_.precision, bytes, wide);
        numbers = wide.data();
    }
    double score = 0;
    if (meta_.metric == Metric::Euclidean) {
        score =
            0.0 - std::sqrt(kernel.squared_distance(query.vector.data(), numbers, meta_.dimension));
    } else {
        score = kernel.dot(query.vector.data(), numbers, meta_.dimension);
    }
    if (meta_.metric == Metric::Cosine) {
        BRAID_TRY(const double length, norm(row));
        score /= query.norm * length;
    }
    if (std::isfinite(score)) return score;
    return fail(ErrorCode::Corruption,
                "vector " + std::to_string(row) + " is not a valid stored vector");
}

Result<> StoredVectors::score(const ExactQuery& query, std::span<const std::uint32_t> rows,
                              std::span<double> scores) const {
    std::vector<float> wide(meta_.precision == Precision::F32 ? 0 : meta_.dimension);
    for (const std::uint32_t row : rows.first(std::min(kFetched, rows.size()))) fetch(row);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i + kFetched < rows.size()) fetch(rows[i + kFetched]);
        BRAID_TRY(scores[i], score_of(query, rows[i], wide));
    }
    return {};
}

Result<std::vector<VectorHit>> StoredVectors::best(const ExactQuery& query,
                                                   std::span<const std::uint32_t> candidates,
                                                   std::span<const float> estimates, std::size_t k,
                                                   double spread) const {
    constexpr std::size_t kFew = 12;  // too few to tell a deviation
    const double unit = meta_.metric == Metric::Dot ? query.norm : 1;
    std::vector<float> wide(meta_.precision == Precision::F32 ? 0 : meta_.dimension);
    std::vector<VectorHit> hits;
    hits.reserve(candidates.size());
    std::vector<double> best;  // scores; a heap with the lowest of the best k in front
    best.reserve(k);
    double sum = 0;
    double squares = 0;
    const auto announce = [&](std::uint32_t row) {
        const std::byte* const first = rows_.place() + row * meta_.row_bytes();
        __builtin_prefetch(first);
        __builtin_prefetch(first + meta_.row_bytes() - 1);
        __builtin_prefetch(norms_.place() + row * sizeof(double));
    };
    for (const std::uint32_t row : candidates.first(std::min(kAnnounced, candidates.size()))) {
        announce(row);
    }
    for (const std::uint32_t row : candidates.first(std::min(kFetched, candidates.size()))) {
        fetch(row);
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const double hoped = static_cast<double>(estimates[i]) * unit;
        if (i >= std::max(k, kFew) && k > 0) {
            const auto n = static_cast<double>(i);
            const double mean = sum / n;
            const double deviation = std::sqrt(std::max(0.0, squares / n - mean * mean));
            if (hoped + mean + spread * deviation < best.front()) break;
        }
        if (i + kAnnounced < candidates.size()) announce(candidates[i + kAnnounced]);
        if (i + kFetched < candidates.size()) fetch(candidates[i + kFetched]);
        BRAID_TRY(const double score, score_of(query, candidates[i], wide));
        hits.push_back({candidates[i], score});
        sum += score - hoped;
        squares += (score - hoped) * (score - hoped);
        if (best.size() < k) {
            best.push_back(score);
            std::ranges::push_heap(best, std::greater<>());
        } else if (k > 0 && score > best.front()) {
            std::ranges::pop_heap(best, std::greater<>());
            best.back() = score;
            std::ranges::push_heap(best, std::greater<>());
        }
    }
    return best_of(std::move(hits), k);
}

Result<std::vector<VectorHit>> StoredVectors::search(const ExactQuery& query, std::size_t k,
                                                     Allowed allowed) const {
    return ExactSearch(*this, query, k).run(allowed);
}

Result<std::vector<std::vector<VectorHit>>> StoredVectors::search_all(
    std::span<const ExactQuery> queries, std::size_t k) const {
    std::vector<std::vector<VectorHit>> best(queries.size());
    if (k == 0 || queries.empty()) return best;
    std::vector<ExactSearch> searches;
    searches.reserve(queries.size());
    for (const ExactQuery& query : queries) searches.emplace_back(*this, query, k);
    // This many rows stay in the first-level cache while all queries pass over them.
    constexpr std::uint64_t kCached = std::uint64_t{24} << 10;
    const std::uint64_t together =
        std::clamp<std::uint64_t>(kCached / (4 * meta_.dimension), 4, 64);
    for (std::uint64_t first = 0; first < size(); first += together) {
        const auto count = static_cast<std::size_t>(std::min(together, size() - first));
        if (meta_.metric != Metric::Euclidean) {
            BRAID_CHECK(ExactSearch::look_at_together(searches, first, count));
            continue;
        }
        for (ExactSearch& search : searches) {
            BRAID_CHECK(search.look_at(first, count, ~std::uint64_t{0} >> (64 - count)));
        }
    }
    for (std::size_t i = 0; i < searches.size(); ++i) {
        BRAID_TRY(best[i], searches[i].finish());
    }
    return best;
}

Result<> StoredVectors::intact() const {
    BRAID_CHECK(rows_.intact());
    return norms_.guarded_as(rows_) ? Result<>() : norms_.intact();
}

}  // namespace braid::dense
