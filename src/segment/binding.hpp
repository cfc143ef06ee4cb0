#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "braid/dense/vectors_reader.hpp"
#include "braid/index/index.hpp"
#include "braid/segment/calibrations.hpp"
#include "braid/segment/segment_index.hpp"

namespace braid::segment {

/// What one snapshot shows, and the graphs and calibrations its searches use: those in place when
/// it was first searched. Ones made later, like merges, are for later snapshots, so that an
/// approximate answer is the same whenever it is asked for. Safe for concurrent use.
class Binding final : public index::Bound {
public:
    explicit Binding(StatePtr state) : state_(std::move(state)) {}

    const StatePtr& state() const noexcept { return state_; }
    dense::SearchAidsPtr aids_of(const dense::VectorsReader& vectors) const;
    /// Null if there was none when this was first asked for.
    Calibrations::Ptr calibration_of(const std::string& namespace_,
                                     const Calibrations& calibrations) const;

private:
    StatePtr state_;
    mutable std::mutex mutex_;
    mutable std::vector<std::pair<const dense::VectorsReader*, dense::SearchAidsPtr>> aids_;
    mutable std::map<std::string, Calibrations::Ptr, std::less<>> calibrations_;
};

}  // namespace braid::segment
