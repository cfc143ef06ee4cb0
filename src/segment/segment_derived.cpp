#include <algorithm>
#include <set>

#include "braid/dense/calibrate.hpp"
#include "braid/segment/segment_index.hpp"

namespace braid::segment {

SegmentIndex::Segments SegmentIndex::graphs_due() const {
    Segments due = state()->segments;
    std::erase_if(
        due, [&](const auto& one) { return !segment::graphs_due(*one, policy_.graph_vectors); });
    return due;
}

Result<> SegmentIndex::build_graphs(store::Directory& directory, const Segment& segment,
                                    const std::stop_token& stop) const {
    return segment::build_graphs(directory, segment, policy_.graph_vectors, policy_.graph_bytes(),
                                 stop);
}

std::shared_ptr<const Part> SegmentIndex::largest_vectors(const std::string& namespace_) const {
    std::shared_ptr<const Part> largest;
    const StatePtr now = state();
    for (const auto& segment : now->segments) {
        const Segment::Space* const space = segment->space(namespace_);
        if (space == nullptr || space->meta().vectors < policy_.graph_vectors) continue;
        auto part = space->part();
        if (!part || (*part)->vectors() == nullptr || !(*part)->vectors()->transform()) continue;
        if (!largest || (*part)->vectors()->size() > largest->vectors()->size()) {
            largest = *std::move(part);
        }
    }
    return largest;
}

std::vector<std::string> SegmentIndex::calibrations_due() const {
    std::set<std::string> large;
    const StatePtr now = state();
    for (const auto& segment : now->segments) {
        for (const PartMeta& part : segment->meta().parts) {
            if (part.vectors >= policy_.graph_vectors) large.insert(part.namespace_);
        }
    }
    std::vector<std::string> due;
    for (const std::string& name : large) {
        const auto part = largest_vectors(name);
        if (!part) continue;
        const dense::VectorsReader& vectors = *part->vectors();
        if (calibrations_.due(name, vectors.size(), vectors.has_graph())) due.push_back(name);
    }
    return due;
}

Result<> SegmentIndex::calibrate(const std::string& namespace_, const std::stop_token& stop) const {
    const auto part = largest_vectors(namespace_);
    if (!part) return {};
    const auto queries = calibrations_.queries(namespace_);
    dense::CalibrationOptions options;
    options.own_vectors = queries.empty() ? options.own_vectors : 1;
    BRAID_TRY(auto made,
              dense::calibrate(*part->vectors(), queries, options, {.stop = stop, .progress = {}}));
    BRAID_CHECK(part->intact());
    calibrations_.set(namespace_, std::move(made));
    return {};
}

std::optional<DenseStats> SegmentIndex::dense_stats(const std::string& namespace_) const {
    if (!largest_vectors(namespace_)) return std::nullopt;
    DenseStats stats;
    const StatePtr now = state();
    for (const auto& segment : now->segments) {
        const Segment::Space* const space = segment->space(namespace_);
        if (space == nullptr || space->meta().vectors < policy_.graph_vectors) continue;
        const auto part = space->part();
        if (part && (*part)->vectors() != nullptr && (*part)->vectors()->has_graph()) {
            stats.in_graphs += (*part)->vectors()->size();
        }
    }
    const auto calibration = calibrations_.of(namespace_);
    if (!calibration) return stats;
    stats.calibrated = calibration->rows;
    stats.queries = calibration->queries;
    stats.asked = calibration->asked;
    for (const dense::CalibrationPoint& point : calibration->points) {
        stats.points.push_back({.method = std::string(method_name(point.method)),
                                .planned = point.planned,
                                .found = point.found,
                                .low = point.low,
                                .high = point.high,
                                .k = point.k});
    }
    return stats;
}

void SegmentIndex::note_query(const std::string& namespace_, std::span<const float> query,
                              bool graph_missing) const {
    if (calibrations_.note(namespace_, query)) derivation_due_ = true;
    // A search may have found one damaged: look again now and then.
    constexpr std::uint64_t patience = 1024;
    if (graph_missing && ++without_graph_ % patience == 0) derivation_due_ = true;
}

}  // namespace braid::segment
