#pragma once

#include <string>
#include <utility>
#include <vector>

#include "braid/docs/filter_matcher.hpp"
#include "braid/exact/leg_search.hpp"
#include "braid/exact/partition.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::exact {

/// What a filter selects of a namespace, while writers go on: decided in rounds, each of which
/// looks at what was written during the one before.
class FilterSelection {
public:
    /// Schema and limits must outlive it.
    FilterSelection(docs::FilterMatcher filter, const Schema& schema, Principal principal,
                    const CallLimits& limits)
        : filter_(std::move(filter)),
          schema_(&schema),
          principal_(std::move(principal)),
          limits_(&limits) {}

    /// Each time of the same namespace of the same collection, as it is by then.
    Result<> catch_up(const Present& now);
    /// Ids of the present chunks that the filter selects. Requires that it has caught up with
    /// `now`.
    std::vector<std::string> ids(const Present& now) const;

private:
    /// A version of a chunk that the filter selects.
    struct Selected {
        std::string chunk_id;
        Sequence born = 0;
    };

    docs::FilterMatcher filter_;
    const Schema* schema_;
    Principal principal_;
    const CallLimits* limits_;
    Sequence seen_ = 0;
    std::vector<Selected> selected_;
};

}  // namespace braid::exact
