#pragma once

#include <string>
#include <utility>
#include <vector>

#include "braid/docs/filter_matcher.hpp"
#include "braid/filter.hpp"
#include "braid/index/index.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::local {

/// What a filter selects in a namespace while writers go on: decided in rounds, each of which looks
/// at what was written during the one before.
class FilterSelection {
public:
    /// The limits must outlive it.
    FilterSelection(Filter filter, docs::FilterMatcher matcher, std::string space,
                    Principal principal, const CallLimits& limits)
        : filter_(std::move(filter)),
          matcher_(std::move(matcher)),
          space_(std::move(space)),
          principal_(std::move(principal)),
          limits_(&limits) {}

    /// The same index each time, as it is by then.
    Result<> catch_up(const index::Index& index, const index::PointInTime& now);
    /// Ids of the present chunks that the filter selects. Requires that it has caught up with
    /// `now`.
    Result<std::vector<std::string>> ids(const index::Index& index, index::Sequence now) const;

private:
    Filter filter_;
    docs::FilterMatcher matcher_;
    std::string space_;  // the namespace
    Principal principal_;
    const CallLimits* limits_;
    index::Sequence seen_ = 0;
    std::vector<std::pair<std::string, Version>> selected_;
};

}  // namespace braid::local
