#include "braid/exact/visible_rows.hpp"

#include <algorithm>

namespace braid::exact {

Result<std::size_t> clearance_of(const Principal& principal, const Schema& schema) {
    const std::string& wanted = *principal.clearance;
    const auto& names = schema.levels.names;
    const auto level = std::ranges::find(names, wanted);
    if (level == names.end()) {
        return invalid_argument("clearance \"" + wanted + "\" is not a level of the collection");
    }
    return static_cast<std::size_t>(level - names.begin());
}

Result<VisibleRows> VisibleRows::create(const Partition& partition, const Principal& principal,
                                        Sequence at, Timestamp now) {
    VisibleRows visible(partition, at, now);
    visible.all_labels_ = principal.sees_everything();
    if (visible.all_labels_) return visible;
    BRAID_TRY(const std::size_t clearance, clearance_of(principal, partition.schema()));
    visible.labels_ = partition.labels().visible(clearance, principal.scopes);
    return visible;
}

}  // namespace braid::exact
