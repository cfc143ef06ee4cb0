#pragma once

#include <cstdint>
#include <string_view>

#include "braid/dense/code_scan.hpp"

namespace braid::dense {

/// How the candidates of a search were found. Their scores are exact in any case.
enum class VectorMethod { Exact, Scan, Graph };

/// "exact", "scan", "graph".
std::string_view name_of(VectorMethod method) noexcept;

/// How many standard deviations above its estimate a score is allowed for: one row in a thousand is
/// higher.
inline constexpr double kUsualSpread = 3;

/// What a search is to do.
struct VectorPlan {
    VectorMethod method = VectorMethod::Exact;
    ScanDepth depth;               // of a scan; a walk rescores the same number of rows
    std::size_t beam = 0;          // of a walk
    float margin = 0;              // of a walk, see WalkWidth; 0: none
    double spread = kUsualSpread;  // see StoredVectors::best
};

/// What is known before a search.
struct PlanInput {
    std::uint64_t rows = 0;
    std::uint64_t allowed = 0;
    std::size_t k = 0;
    double scan_recall = 0;   // to plan for: the one asked for, or what a calibration makes of it
    double graph_recall = 0;  // the same for a walk
    bool has_codes = false;
    bool has_graph = false;
};

/// The cheapest way to find the share asked for. Exact if nearly all rows would be scored anyway,
/// or all are asked for; a walk only if at least a quarter of the rows is allowed.
VectorPlan plan_search(const PlanInput& input) noexcept;

/// Whether a walk for that share may be planned if the alternative is a scan for `deepest`.
bool walk_may_pay(std::uint64_t rows, std::size_t k, double recall, double deepest) noexcept;

/// The depth at which a scan for k rows finds that share of them, for common text embeddings.
ScanDepth usual_depth(std::size_t k, double recall) noexcept;
/// The same, for the beam of a walk without a margin.
std::size_t usual_beam(std::uint64_t rows, std::size_t k, double recall) noexcept;
/// The same, for a walk with a margin: some queries need far more steps than others, and a margin
/// tells them apart. The beam is what no query should need to exceed.
VectorPlan usual_walk(std::uint64_t rows, std::size_t k, double recall) noexcept;

}  // namespace braid::dense
