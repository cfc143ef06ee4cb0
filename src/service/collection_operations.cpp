#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "braid/core/unknown_collection.hpp"
#include "braid/engine/embedder_settings.hpp"
#include "braid/service/operations.hpp"

namespace braid::service {

namespace {

/// For callers who administer all of the collection.
Result<> need_whole(const std::string& name, const Caller& caller, const std::string& doing) {
    BRAID_CHECK(validate_collection_name(name));
    BRAID_CHECK(caller.require(Access::Admin, name));
    if (!caller.sees_everything()) {
        return fail(ErrorCode::PermissionDenied,
                    doing + " collection \"" + name + "\" requires the right to see all of it");
    }
    return {};
}

}  // namespace

Result<CollectionInfo> Operations::as_seen(CollectionInfo info, const Caller& caller) const {
    info.damage = caller.told(std::move(info.damage));
    if (caller.namespaces.all()) return info;
    std::erase_if(info.namespaces,
                  [&](const std::string& name) { return !caller.namespaces.allow(name); });
    info.chunks = info.documents = 0;
    for (const std::string& name : info.namespaces) {
        const ReadScope scope{info.name, name, caller.principal, std::nullopt};
        BRAID_TRY(const CollectionStats stats, database_.stats(scope, caller.call));
        info.chunks += stats.chunks;
        info.documents += stats.documents;
    }
    return info;
}

Result<std::vector<CollectionInfo>> Operations::visible_collections(const Caller& caller) const {
    BRAID_TRY(auto found, database_.collections(caller.principal));
    std::vector<CollectionInfo> visible;
    visible.reserve(found.size());
    for (CollectionInfo& info : found) {
        if (!caller.require(Access::Read, info.name)) continue;
        BRAID_TRY(visible.emplace_back(), as_seen(std::move(info), caller));
    }
    return visible;
}

Result<> Operations::check_embedder(const Schema& schema) const {
    if (!options_.embedders) return {};
    const std::string name = engine::full_embedder_name(schema.vectors.embedder);
    std::vector<std::string> known{"none", "external"};
    known.push_back(engine::full_embedder_name(options_.embedder));
    known.insert(known.end(), options_.embedders->begin(), options_.embedders->end());
    if (std::ranges::find(known, name) != known.end()) return {};
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    std::string message = "there is no embedder \"" + name + "\" here; the embedders are";
    for (const std::string& each : known) message += (each == known.front() ? " " : ", ") + each;
    return fail(ErrorCode::NotFound, std::move(message));
}

Error Operations::with_collections(Error error, const Caller& caller) const {
    if (error.code != ErrorCode::NotFound) return error;
    const auto missing = core::unknown_collection_in(error.message);
    if (!missing) return error;
    const auto found = database_.collections(caller.principal);
    if (!found) return error;
    std::vector<std::string_view> known;
    for (const CollectionInfo& info : *found) {
        if (caller.require(Access::Read, info.name)) known.emplace_back(info.name);
    }
    error.message = core::unknown_collection(*missing, known);
    return error;
}

Result<std::vector<CollectionInfo>> Operations::perform(const CollectionsRequest& /*wanted*/,
                                                        const Caller& caller) const {
    return visible_collections(caller);
}

Result<CollectionInfo> Operations::perform(const DescribeRequest& wanted,
                                           const Caller& caller) const {
    BRAID_TRY(const ReadScope scope, scope_of(wanted.at, caller, Access::Read));
    BRAID_TRY(CollectionInfo info, database_.describe(scope.collection, caller.principal));
    return as_seen(std::move(info), caller);
}

Result<CollectionInfo> Operations::perform(const CreateCollectionRequest& wanted,
                                           const Caller& caller) const {
    const std::string& name = wanted.name;
    BRAID_CHECK(validate_collection_name(name));
    BRAID_CHECK(caller.require(Access::Admin, name));
    Schema usual;
    usual.vectors.embedder = options_.embedder;
    const Schema& schema = wanted.schema ? *wanted.schema : usual;
    BRAID_CHECK(check_embedder(schema));
    BRAID_CHECK(wanted.unfinished ? database_.begin_collection(name, schema)
                                  : database_.create_collection(name, schema));
    caller.note_change(name, 0);
    return database_.describe(name, caller.principal);
}

Result<FinishReport> Operations::perform(FinishCollectionRequest wanted,
                                         const Caller& caller) const {
    BRAID_CHECK(need_whole(wanted.collection, caller, "finishing"));
    BRAID_CHECK(database_.finish_collection(wanted.collection));
    caller.note_change(wanted.collection, 0);
    return FinishReport{std::move(wanted.collection)};
}

Result<DropReport> Operations::perform(DropCollectionRequest wanted, const Caller& caller) const {
    BRAID_CHECK(need_whole(wanted.collection, caller, "dropping"));
    BRAID_CHECK(database_.drop_collection(wanted.collection));
    caller.note_change(wanted.collection, 0);
    return DropReport{std::move(wanted.collection)};
}

Result<CompactOutcome> Operations::perform(CompactRequest wanted, const Caller& caller) const {
    BRAID_CHECK(need_whole(wanted.collection, caller, "compacting"));
    CallLimits limits = caller.call;
    limits.deadline.reset();
    CompactOutcome report{std::move(wanted.collection), {}};
    BRAID_TRY(report.sizes, database_.compact(report.collection, {}, limits));
    return report;
}

Result<ReembedOutcome> Operations::perform(ReembedRequest wanted, const Caller& caller) const {
    BRAID_CHECK(need_whole(wanted.collection, caller, "re-embedding"));
    BRAID_TRY(const CollectionInfo info, database_.describe(wanted.collection, caller.principal));
    Schema schema = info.schema;
    if (wanted.embedder) {
        schema.vectors.embedder = *wanted.embedder;
        BRAID_CHECK(check_embedder(schema));
    }
    CallLimits limits = caller.call;
    limits.deadline.reset();
    ReembedOutcome done{std::move(wanted.collection), schema.vectors.embedder, {}};
    BRAID_TRY(done.report, database_.reembed(done.collection, done.embedder, {}, limits));
    caller.note_change(done.collection, done.report.embedded);
    return done;
}

Result<RankerReport> Operations::perform(RankerRequest wanted, const Caller& caller) const {
    BRAID_CHECK(need_whole(wanted.collection, caller, "reading the ranking of"));
    BRAID_TRY(std::string model, database_.ranker(wanted.collection));
    return RankerReport{std::move(wanted.collection), std::move(model)};
}

Result<SetRankerReport> Operations::perform(SetRankerRequest wanted, const Caller& caller) const {
    BRAID_CHECK(need_whole(wanted.collection, caller, "changing the ranking of"));
    BRAID_CHECK(database_.set_ranker(wanted.collection, wanted.model));
    caller.note_change(wanted.collection, 0);
    return SetRankerReport{std::move(wanted.collection), !wanted.model.empty()};
}

Result<CheckReport> Operations::perform(const CheckRequest& /*wanted*/,
                                        const Caller& caller) const {
    BRAID_CHECK(caller.require(Access::Admin, "*"));
    BRAID_TRY(const auto collections, database_.collections());
    for (const CollectionInfo& info : collections) {
        BRAID_CHECK(caller.require(Access::Admin, info.name));
    }
    if (!caller.sees_everything()) {
        return fail(ErrorCode::PermissionDenied,
                    "checking the database requires the right to see all of it");
    }
    CallLimits limits = caller.call;
    limits.deadline.reset();
    BRAID_TRY(CheckReport report, database_.check(limits));
    for (auto* const lines : {&report.problems, &report.unfinished, &report.notes}) {
        for (std::string& line : *lines) line = caller.told(std::move(line));
    }
    return report;
}

}  // namespace braid::service
