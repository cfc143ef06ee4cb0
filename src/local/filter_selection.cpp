#include "braid/local/filter_selection.hpp"

#include <iterator>

namespace braid::local {

Result<> FilterSelection::catch_up(const index::Index& index, const index::PointInTime& now) {
    BRAID_TRY(const auto view, index.view({.namespace_ = space_,
                                           .principal = principal_,
                                           .at = now.sequence,
                                           .now = now.now,
                                           .filter = &filter_,
                                           .matcher = &matcher_,
                                           .limits = *limits_}));
    BRAID_TRY(auto written, view->written_after(seen_));
    selected_.insert(selected_.end(), std::make_move_iterator(written.begin()),
                     std::make_move_iterator(written.end()));
    seen_ = now.sequence;
    return {};
}

Result<std::vector<std::string>> FilterSelection::ids(const index::Index& index,
                                                      index::Sequence now) const {
    const Principal everybody;
    BRAID_TRY(const auto view,
              index.view({.namespace_ = space_, .principal = everybody, .at = now, .limits = {}}));
    std::vector<std::string> ids;
    for (const auto& [id, version] : selected_) {
        // Another version of it, if there is one, was looked at on its own.
        BRAID_TRY(const index::Found found, view->find(id));
        if (found && found.chunk->version == version) ids.push_back(id);
    }
    return ids;
}

}  // namespace braid::local
