#include <algorithm>
#include <string>
#include <vector>

#include "braid/local/collection.hpp"
#include "braid/local/records.hpp"

namespace braid::local {

namespace {

/// A version of a chunk that a filter selects.
struct Selected {
    std::string chunk_id;
    Sequence born = 0;
};

/// Adds what the filter selects of the versions that the view of `now` shows and that were not
/// there at `seen`.
Result<> select_since(Sequence seen, const Present& now, const View& view, RowFilter filter,
                      std::vector<Selected>& selected) {
    for (Row row = 0; row < view.rows(); ++row) {
        const Sequence born = now.partition->facts(row).born;
        if (born <= seen || !view.shows(row)) continue;
        BRAID_TRY(const bool admitted, filter.admits(row));
        if (admitted) selected.push_back({now.partition->chunk(row).chunk_id, born});
    }
    return {};
}

/// What a filter selects, while writers go on: decided in rounds, each of which looks at what was
/// written during the one before.
class FilterSelection {
public:
    FilterSelection(const docs::FilterMatcher& filter, const Schema& schema,
                    const Principal& principal, const CallLimits& limits)
        : filter_(filter), schema_(schema), principal_(principal), limits_(limits) {}

    Result<> catch_up(const Present& now) {
        BRAID_TRY(const View view, View::create(*now.partition, schema_, principal_, now.at));
        BRAID_CHECK(select_since(seen_, now, view, RowFilter(view, &filter_, limits_), selected_));
        seen_ = now.at;
        return {};
    }

    /// Requires that it has caught up with `now`.
    std::vector<std::string> ids(const Present& now) const {
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

private:
    const docs::FilterMatcher& filter_;
    const Schema& schema_;
    const Principal& principal_;
    const CallLimits& limits_;
    Sequence seen_ = 0;
    std::vector<Selected> selected_;
};

/// Ids of the chunks that the view shows and the selector names.
std::vector<std::string> named_ids(const View& view, const DeleteSelector& selector) {
    std::vector<std::string> ids;
    for (const std::string& id : selector.document_ids) {
        for (const Row row : view.partition().rows_of_document(id)) {
            if (view.shows(row)) ids.push_back(view.partition().chunk(row).chunk_id);
        }
    }
    for (const std::string& id : selector.chunk_ids) {
        if (view.find(id) != kNoRow) ids.push_back(id);
    }
    return ids;
}

}  // namespace

Result<WriteReport> Collection::remove(const ReadScope& scope, const DeleteSelector& selector,
                                       const WriteOptions& options) {
    const int given = static_cast<int>(!selector.chunk_ids.empty()) +
                      static_cast<int>(!selector.document_ids.empty()) +
                      static_cast<int>(selector.filter.has_value());
    if (given != 1) {
        return invalid_argument(
            "delete needs chunk ids, document ids or a filter, and only one of them");
    }
    std::unique_lock alone(write_gate_, std::defer_lock);
    std::vector<std::string> ids;
    if (selector.filter) {
        BRAID_TRY(const auto filter,
                  docs::FilterMatcher::create(*selector.filter, manifest_.schema));
        FilterSelection selection(filter, manifest_.schema, scope.principal, options.limits);
        constexpr int rounds = 2;  // after them, little is left to do while nobody else writes
        for (int round = 0; round < rounds; ++round) {
            BRAID_CHECK(selection.catch_up(present(scope.namespace_)));
        }
        alone.lock();
        const Present now = present(scope.namespace_);
        BRAID_CHECK(selection.catch_up(now));
        ids = selection.ids(now);
    } else {
        alone.lock();
        const Present now = present(scope.namespace_);
        BRAID_TRY(const View view,
                  View::create(*now.partition, manifest_.schema, scope.principal, now.at));
        ids = named_ids(view, selector);
    }
    std::ranges::sort(ids);
    const auto repeated = std::ranges::unique(ids);
    ids.erase(repeated.begin(), repeated.end());
    BRAID_CHECK(
        check_versions(scope, selector.chunk_ids.empty() ? ids : selector.chunk_ids, options));
    if (ids.empty()) return WriteReport{};
    auto out = start_record(kRemove, scope.namespace_, ids.size());
    for (const std::string& id : ids) out.string(id);
    return commit(out.view(),
                  [&](Stamp stamp) { return apply_remove(scope.namespace_, ids, stamp); });
}

}  // namespace braid::local
