#include "braid/dense/calibrate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "braid/core/parallel.hpp"

namespace braid::dense {
namespace {

// What is usual for ten hits is more than enough for fifty, so those begin lower.
constexpr std::array kPlanned{0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999};
constexpr std::array kPlannedForMany{0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.995};
constexpr std::uint32_t kMany = 32;
constexpr std::size_t kQueriesAtOnce = 32;  // queries a thread takes at a time

Result<> go_on(const BuildControl& control) {
    if (!control.stop.stop_requested()) return {};
    return fail(ErrorCode::Cancelled, "calibrating searches was stopped");
}

/// Calls work(i) for all i below count on all cores, in pieces. Of several errors, the one with the
/// lowest number is returned.
Result<> in_pieces(std::size_t count, const BuildControl& control,
                   const std::function<Result<>(std::size_t first, std::size_t end)>& work) {
    std::vector<Result<>> done((count + kQueriesAtOnce - 1) / kQueriesAtOnce);
    core::run_computing(done.size(), [&](std::size_t piece) {
        done[piece] = go_on(control);
        if (!done[piece]) return;
        done[piece] = work(piece * kQueriesAtOnce, std::min(count, (piece + 1) * kQueriesAtOnce));
    });
    for (Result<>& one : done) BRAID_CHECK(std::move(one));
    return {};
}

/// A query and its true best rows.
struct GroundTruth {
    std::vector<float> query;
    std::vector<VectorHit> best;
};

Result<std::vector<GroundTruth>> ground_truth(const VectorsReader& reader,
                                              std::span<const std::vector<float>> queries,
                                              const CalibrationOptions& options,
                                              const BuildControl& control) {
    std::vector<GroundTruth> truths;
    for (const auto& query : queries) truths.push_back({query, {}});
    const std::uint64_t own = queries.size() >= options.own_vectors
                                  ? 0
                                  : std::min<std::uint64_t>(options.own_vectors, reader.size());
    for (std::uint64_t i = 0; i < own; ++i) {
        std::vector<float> row(reader.meta().dimension);
        BRAID_CHECK(
            reader.vectors().copy_row(static_cast<std::uint32_t>(i * reader.size() / own), row));
        // A vector of zeros is not a query, however it may be stored.
        if (std::ranges::any_of(row, [](float x) { return x != 0; })) {
            truths.push_back({std::move(row), {}});
        }
    }
    BRAID_CHECK(
        in_pieces(truths.size(), control, [&](std::size_t first, std::size_t end) -> Result<> {
            std::vector<ExactQuery> some;
            for (std::size_t i = first; i < end; ++i) {
                BRAID_TRY(some.emplace_back(), reader.vectors().query(truths[i].query));
            }
            BRAID_TRY(auto best, reader.vectors().search_all(some, options.ks.back()));
            for (std::size_t i = first; i < end; ++i) truths[i].best = std::move(best[i - first]);
            return reader.vectors().intact();
        }));
    return truths;
}

/// The mean share of the truth found by one plan. A row that scores as well as the last of the best
/// counts as found.
Result<CalibrationPoint> measure(const VectorsReader& reader, std::span<const GroundTruth> truths,
                                 VectorMethod method, double planned, std::uint32_t k,
                                 const BuildControl& control) {
    VectorSearch search{.k = k, .depth = usual_depth(k, planned), .spread = kUsualSpread};
    if (method == VectorMethod::Graph) {
        const VectorPlan walk = usual_walk(reader.size(), k, planned);
        search.depth = walk.depth;
        search.beam = walk.beam;
        search.margin = walk.margin;
    }
    std::vector<double> shares(truths.size(), -1);
    const auto look = [&](std::size_t first, std::size_t end) -> Result<> {
        for (std::size_t i = first; i < end; ++i) {
            const GroundTruth& one = truths[i];
            if (one.best.empty()) continue;
            BRAID_TRY(const VectorAnswer answer, reader.search(one.query, search));
            const std::size_t wanted = std::min<std::size_t>(k, one.best.size());
            const double least = one.best[wanted - 1].score;
            const auto found = static_cast<double>(std::ranges::count_if(
                answer.hits, [&](const VectorHit& hit) { return hit.score >= least; }));
            shares[i] = std::min(1.0, found / static_cast<double>(wanted));
        }
        return {};
    };
    BRAID_CHECK(in_pieces(truths.size(), control, look));
    double sum = 0;
    double squares = 0;
    std::size_t count = 0;
    for (const double share : shares) {
        if (share < 0) continue;
        sum += share;
        squares += share * share;
        ++count;
    }
    const auto n = static_cast<double>(std::max<std::size_t>(count, 1));
    const double mean = count == 0 ? 1 : sum / n;
    const double spread = std::sqrt(std::max(0.0, squares / n - mean * mean) / n);
    // Where nothing was missed, up to three misses among as many rows as were looked for may still
    // be due to chance.
    const double unseen = std::min(1.0, 3 / (n * static_cast<double>(k)));
    return CalibrationPoint{.method = method,
                            .planned = planned,
                            .found = mean,
                            .low = std::clamp(std::min(mean - 1.96 * spread, 1 - unseen), 0.0, 1.0),
                            .high = std::min(1.0, mean + 1.96 * spread),
                            .k = k};
}

}  // namespace

Result<Calibration> calibrate(const VectorsReader& reader,
                              std::span<const std::vector<float>> queries,
                              const CalibrationOptions& options, const BuildControl& control) {
    if (reader.transform() == nullptr) {
        return invalid_argument("vectors without codes are searched exactly: nothing to calibrate");
    }
    BRAID_TRY(const std::vector<GroundTruth> truths,
              ground_truth(reader, queries, options, control));
    Calibration calibration{
        .rows = reader.size(), .queries = truths.size(), .asked = queries.size(), .points = {}};
    double done = 0.5;
    for (const VectorMethod method : {VectorMethod::Scan, VectorMethod::Graph}) {
        if (method == VectorMethod::Graph && !reader.has_graph()) continue;
        for (const std::uint32_t k : options.ks) {
            const auto& all = k < kMany ? kPlanned : kPlannedForMany;
            for (const double planned : all) {
                // Such a walk takes many times as long as the scan that would be planned instead.
                // One point is always measured: it records that there is a graph.
                if (method == VectorMethod::Graph && planned != all.front() &&
                    !walk_may_pay(reader.size(), k, planned, all.back())) {
                    break;
                }
                BRAID_TRY(calibration.points.emplace_back(),
                          measure(reader, truths, method, planned, k, control));
                done += 0.5 / static_cast<double>(2 * options.ks.size() * kPlanned.size());
                if (control.progress) control.progress(done);
            }
        }
    }
    if (control.progress) control.progress(1);
    return calibration;
}

}  // namespace braid::dense
