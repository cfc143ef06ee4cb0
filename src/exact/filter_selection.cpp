#include "braid/exact/filter_selection.hpp"

namespace braid::exact {

Result<> FilterSelection::catch_up(const Present& now) {
    const Partition& partition = *now.partition;
    BRAID_TRY(const View view, View::create(partition, *schema_, principal_, now.at));
    RowFilter filter(view, &filter_, *limits_);
    for (Row row = 0; row < view.rows(); ++row) {
        const Sequence born = partition.facts(row).born;
        if (born <= seen_ || !view.shows(row)) continue;
        BRAID_TRY(const bool admitted, filter.admits(row));
        if (admitted) selected_.push_back({partition.chunk(row).chunk_id, born});
    }
    seen_ = now.at;
    return {};
}

std::vector<std::string> FilterSelection::ids(const Present& now) const {
    std::vector<std::string> ids;
    for (const Selected& one : selected_) {
        // Another version of it, if there is one, was looked at by itself.
        const Row row = now.partition->find(one.chunk_id, now.at);
        if (row != kNoRow && now.partition->facts(row).born == one.born) {
            ids.push_back(one.chunk_id);
        }
    }
    return ids;
}

}  // namespace braid::exact
