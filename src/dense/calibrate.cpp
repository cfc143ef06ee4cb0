#include "braid/dense/calibrate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace braid::dense {
namespace {

constexpr std::array kPlanned{0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 0.9995};

/// A query and the rows that are truly best.
struct Judged {
    std::vector<float> query;
    std::vector<VectorHit> best;
};

Result<std::vector<Judged>> judge(const VectorsReader& reader,
                                  std::span<const std::vector<float>> queries,
                                  const CalibrationOptions& options, const BuildControl& control) {
    std::vector<Judged> judged;
    for (const auto& query : queries) judged.push_back({query, {}});
    const std::uint64_t own = queries.size() >= options.own_vectors
                                  ? 0
                                  : std::min<std::uint64_t>(options.own_vectors, reader.size());
    for (std::uint64_t i = 0; i < own; ++i) {
        std::vector<float> row(reader.meta().dimension);
        BRAID_CHECK(
            reader.vectors().copy_row(static_cast<std::uint32_t>(i * reader.size() / own), row));
        // A vector of zeros is no query, however it may be stored.
        if (std::ranges::any_of(row, [](float x) { return x != 0; })) {
            judged.push_back({std::move(row), {}});
        }
    }
    for (std::size_t i = 0; i < judged.size(); ++i) {
        if (control.stop.stop_requested()) {
            return fail(ErrorCode::Cancelled, "calibrating searches was stopped");
        }
        BRAID_TRY(VectorAnswer answer,
                  reader.search(judged[i].query, {.k = options.k, .exact = true}));
        judged[i].best = std::move(answer.hits);
        if (control.progress) {
            control.progress(0.5 * static_cast<double>(i + 1) / static_cast<double>(judged.size()));
        }
    }
    return judged;
}

/// The mean share found by one plan. A found row as good as the last of the best counts as found.
Result<CalibrationPoint> measure(const VectorsReader& reader, std::span<const Judged> judged,
                                 VectorMethod method, double planned, std::size_t k) {
    VectorSearch search{.k = k, .depth = usual_depth(k, planned)};
    if (method == VectorMethod::Graph) search.beam = usual_beam(reader.size(), k, planned);
    double sum = 0;
    double squares = 0;
    std::size_t count = 0;
    for (const Judged& one : judged) {
        if (one.best.empty()) continue;
        BRAID_TRY(const VectorAnswer answer, reader.search(one.query, search));
        const double least = one.best.back().score;
        const auto found = static_cast<double>(std::ranges::count_if(
            answer.hits, [&](const VectorHit& hit) { return hit.score >= least; }));
        const double share = std::min(1.0, found / static_cast<double>(one.best.size()));
        sum += share;
        squares += share * share;
        ++count;
    }
    const auto n = static_cast<double>(std::max<std::size_t>(count, 1));
    const double mean = count == 0 ? 1 : sum / n;
    const double spread = std::sqrt(std::max(0.0, squares / n - mean * mean) / n);
    // Where nothing was missed, up to three misses in as many rows as were looked for may be
    // chance.
    const double unseen = std::min(1.0, 3 / (n * static_cast<double>(std::max<std::size_t>(k, 1))));
    return CalibrationPoint{.method = method,
                            .planned = planned,
                            .found = mean,
                            .low = std::clamp(std::min(mean - 1.96 * spread, 1 - unseen), 0.0, 1.0),
                            .high = std::min(1.0, mean + 1.96 * spread)};
}

}  // namespace

Result<Calibration> calibrate(const VectorsReader& reader,
                              std::span<const std::vector<float>> queries,
                              const CalibrationOptions& options, const BuildControl& control) {
    if (reader.transform() == nullptr) {
        return invalid_argument("vectors without codes are searched exactly: nothing to calibrate");
    }
    BRAID_TRY(const std::vector<Judged> judged, judge(reader, queries, options, control));
    Calibration calibration{.rows = reader.size(), .queries = judged.size(), .points = {}};
    for (const VectorMethod method : {VectorMethod::Scan, VectorMethod::Graph}) {
        if (method == VectorMethod::Graph && !reader.has_graph()) continue;
        for (const double planned : kPlanned) {
            if (control.stop.stop_requested()) {
                return fail(ErrorCode::Cancelled, "calibrating searches was stopped");
            }
            BRAID_TRY(calibration.points.emplace_back(),
                      measure(reader, judged, method, planned, options.k));
        }
    }
    if (control.progress) control.progress(1);
    return calibration;
}

}  // namespace braid::dense
