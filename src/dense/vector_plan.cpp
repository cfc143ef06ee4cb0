#include "braid/dense/vector_plan.hpp"

#include <algorithm>
#include <cmath>

namespace braid::dense {
namespace {

/// How many times more is missed at a recall of 0.95 than at the one asked for.
double rarer_misses(double recall) noexcept {
    return 0.05 / std::clamp(1 - recall, 1e-4, 0.5);
}

/// The margin of a walk for a recall of 0.95, as in WalkWidth.
constexpr double kMargin = 1.1;

double tens(std::size_t k) noexcept {
    return static_cast<double>(std::max<std::size_t>(k, 10)) / 10;
}

// Microseconds, as measured by the benchmark; only their ratio matters.
double scan_cost(const PlanInput& input, const ScanDepth& depth) noexcept {
    return 25 + static_cast<double>(input.rows) * 0.84e-3 +
           static_cast<double>(depth.survivors) * 0.1;
}

double walk_cost(double beam) noexcept {
    return 25 + beam * 0.6;
}

}  // namespace

std::string_view name_of(VectorMethod method) noexcept {
    switch (method) {
        case VectorMethod::Scan:
            return "scan";
        case VectorMethod::Graph:
            return "graph";
        case VectorMethod::Exact:
            break;
    }
    return "exact";
}

ScanDepth usual_depth(std::size_t k, double recall) noexcept {
    const double misses = rarer_misses(recall);
    ScanDepth depth;
    // Scoring stops where estimates allow it, so what a few queries need costs the others nothing.
    depth.rescored =
        std::max(k, static_cast<std::size_t>(70 * std::pow(misses, 0.57) * std::pow(tens(k), 0.9)));
    depth.survivors = std::max(2 * depth.rescored,
                               static_cast<std::size_t>(150 * std::pow(misses, 0.75) * tens(k)));
    return depth;
}

std::size_t usual_beam(std::uint64_t rows, std::size_t k, double recall) noexcept {
    const double growth = std::pow(std::max(1.0, static_cast<double>(rows) * 1e-5), 0.15);
    const double beam =
        124 * std::pow(rarer_misses(recall), 0.95) * std::pow(tens(k), 0.38) * growth;
    return std::max(2 * k, static_cast<std::size_t>(beam));
}

VectorPlan usual_walk(std::uint64_t rows, std::size_t k, double recall) noexcept {
    VectorPlan plan{.method = VectorMethod::Graph, .depth = usual_depth(k, recall)};
    plan.beam = usual_beam(rows, k, recall) * 5 / 2;
    plan.margin = static_cast<float>(kMargin * std::pow(rarer_misses(recall), 0.43));
    return plan;
}

bool walk_may_pay(std::uint64_t rows, std::size_t k, double recall, double deepest) noexcept {
    const PlanInput input{.rows = rows, .allowed = rows, .k = k};
    const auto beam = static_cast<double>(usual_beam(rows, k, recall));
    return walk_cost(beam) < scan_cost(input, usual_depth(k, deepest));
}

VectorPlan plan_search(const PlanInput& input) noexcept {
    VectorPlan plan;
    if (!input.has_codes || input.k == 0) return plan;
    const bool scans = input.scan_recall < 1;
    const bool walks = input.has_graph && input.graph_recall < 1 && input.allowed >= input.rows / 4;
    if (!scans && !walks) return plan;
    const ScanDepth scanned = usual_depth(input.k, input.scan_recall);
    const ScanDepth walked = usual_depth(input.k, input.graph_recall);
    // If scarcely more rows are allowed than would be scored anyway, scoring all of them is as
    // cheap.
    if (input.allowed <= 3 * (scans ? scanned : walked).rescored) return plan;
    if (scans) plan = {.method = VectorMethod::Scan, .depth = scanned};
    if (!walks) return plan;
    const std::size_t beam = usual_beam(input.rows, input.k, input.graph_recall);
    // A walk also passes through rows that are not allowed.
    const double share = static_cast<double>(input.rows) / static_cast<double>(input.allowed);
    if (!scans || walk_cost(static_cast<double>(beam) * share) < scan_cost(input, scanned)) {
        plan = usual_walk(input.rows, input.k, input.graph_recall);
    }
    return plan;
}

}  // namespace braid::dense
