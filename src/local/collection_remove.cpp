#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "braid/index/write_rules.hpp"
#include "braid/local/collection.hpp"
#include "braid/local/records.hpp"

namespace braid::local {
namespace {

/// Ids of the chunks that the view shows and the selector names.
Result<std::vector<std::string>> named_ids(const index::View& view,
                                           const DeleteSelector& selector) {
    std::vector<std::string> ids;
    for (const std::string& id : selector.document_ids) {
        BRAID_TRY(const auto chunks, view.ids_of_document(id));
        ids.insert(ids.end(), chunks.begin(), chunks.end());
    }
    for (const std::string& id : selector.chunk_ids) {
        BRAID_TRY(const index::Found found, view.find(id));
        if (found) ids.push_back(id);
    }
    return ids;
}

}  // namespace

Result<FilterSelection> Collection::select(const ReadScope& scope, const Filter& filter,
                                           const CallLimits& limits) const {
    BRAID_TRY(auto matcher, docs::FilterMatcher::create(filter, manifest_.schema));
    FilterSelection selection(filter, std::move(matcher), scope.namespace_, scope.principal,
                              limits);
    constexpr int rounds = 2;  // little is left after them to do while nobody else writes
    for (int round = 0; round < rounds; ++round) {
        const auto pinned = pin();
        BRAID_CHECK(selection.catch_up(*index_, pinned->at()));
    }
    return selection;
}

bool Collection::drops_namespace(const ReadScope& scope, const DeleteSelector& selector,
                                 const WriteOptions& options) {
    return selector.filter == Filter{} && !scope.filter && scope.principal.sees_everything() &&
           !options.if_version;
}

Result<WriteReport> Collection::drop_namespace(const std::string& namespace_) {
    const std::unique_lock alone(write_gate_);
    std::uint64_t shown = 0;
    {
        BRAID_TRY(const ViewPtr view, present(namespace_, {}));
        BRAID_TRY(shown, view->count());
    }
    if (shown == 0) return WriteReport{};
    BRAID_CHECK(raise_format(kDroppingFormat));
    const auto out = start_record(kDropNamespace, namespace_, 0);
    return commit(out.view(), [&](Stamp stamp) -> Result<WriteReport> {
        BRAID_CHECK(index_->drop(namespace_, stamp.sequence));
        return WriteReport{.written = shown, .version = stamp.version};
    });
}

Result<WriteReport> Collection::remove(const ReadScope& scope, const DeleteSelector& selector,
                                       const WriteOptions& options,
                                       std::optional<FilterSelection> selection) {
    BRAID_CHECK(index::check_selector(selector));
    if (drops_namespace(scope, selector, options)) return drop_namespace(scope.namespace_);
    if (selector.filter && !selection) {
        BRAID_TRY(selection, select(scope, *selector.filter, options.limits));
    }
    const std::unique_lock alone(write_gate_);
    std::vector<std::string> ids;
    if (selection) {
        const Sequence last = applied();
        BRAID_CHECK(selection->catch_up(*index_, {last, now()}));
        BRAID_TRY(ids, selection->ids(*index_, last));
    } else {
        BRAID_TRY(const ViewPtr view, present(scope.namespace_, scope.principal));
        BRAID_TRY(ids, named_ids(*view, selector));
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
