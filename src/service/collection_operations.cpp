#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "braid/core/unknown_collection.hpp"
#include "braid/engine/embedder_settings.hpp"
#include "braid/json/fields.hpp"
#include "braid/service/operations.hpp"
#include "braid/service/parameters.hpp"
#include "braid/wire/check_json.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::service {

using json::Fields;

namespace {

/// The member "collection", which has no default here, for callers who administer all of it.
Result<std::string> whole_collection(const Object& params, const Caller& caller,
                                     const std::string& doing) {
    Fields fields(params);
    BRAID_TRY(auto name, fields.required("collection", fields.string("collection")));
    BRAID_CHECK(fields.finish());
    BRAID_CHECK(validate_collection_name(name));
    BRAID_CHECK(caller.require(Access::Admin, name));
    if (!caller.sees_everything()) {
        return fail(ErrorCode::PermissionDenied,
                    doing + " collection \"" + name + "\" needs the right to see all of it");
    }
    return name;
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
    std::string message = "there is no embedder \"" + name + "\" here; there are";
    for (const std::string& each : known) message += (each == known.front() ? " " : ", ") + each;
    return fail(ErrorCode::NotFound, std::move(message));
}

Result<Value> Operations::run(Member member, const Object& params, const Caller& caller) const {
    auto result = (this->*member)(params, caller);
    if (!result) return tl::unexpected(with_collections(std::move(result).error(), caller));
    return result;
}

Result<Value> Operations::run(const NamedOperation& operation, const Object& params,
                              const Caller& caller) const {
    auto result = operation.run(*this, params, caller);
    if (!result) return tl::unexpected(with_collections(std::move(result).error(), caller));
    return result;
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

Result<Value> Operations::collections(const Object& params, const Caller& caller) const {
    const Fields fields(params);
    BRAID_CHECK(fields.finish());
    BRAID_TRY(const auto found, visible_collections(caller));
    Array collections;
    collections.reserve(found.size());
    for (const CollectionInfo& info : found) {
        collections.push_back(wire::collection_to_value(info));
    }
    return Value(Object{{"collections", std::move(collections)}});
}

Result<Value> Operations::describe(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Read));
    BRAID_CHECK(fields.finish());
    BRAID_TRY(CollectionInfo info, database_.describe(scope.collection, caller.principal));
    BRAID_TRY(info, as_seen(std::move(info), caller));
    return wire::collection_to_value(info);
}

Result<Value> Operations::create_collection(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const auto name, fields.required("name", fields.string("name")));
    const Value* const given = fields.any("schema");
    BRAID_TRY(const auto unfinished, fields.boolean("unfinished"));
    BRAID_CHECK(fields.finish());
    BRAID_CHECK(validate_collection_name(name));
    BRAID_CHECK(caller.require(Access::Admin, name));
    Schema schema;
    schema.vectors.embedder = options_.embedder;
    if (given != nullptr && !given->is_null()) {
        BRAID_TRY(schema, wire::schema_from_value(*given));
    }
    BRAID_CHECK(check_embedder(schema));
    BRAID_CHECK(unfinished.value_or(false) ? database_.begin_collection(name, schema)
                                           : database_.create_collection(name, schema));
    caller.note_change(name, 0);
    BRAID_TRY(const CollectionInfo info, database_.describe(name, caller.principal));
    return wire::collection_to_value(info);
}

Result<Value> Operations::finish_collection(const Object& params, const Caller& caller) const {
    BRAID_TRY(const std::string name, whole_collection(params, caller, "finishing"));
    BRAID_CHECK(database_.finish_collection(name));
    caller.note_change(name, 0);
    return Value(Object{{"collection", Value(name)}, {"finished", true}});
}

Result<Value> Operations::drop_collection(const Object& params, const Caller& caller) const {
    BRAID_TRY(const std::string name, whole_collection(params, caller, "dropping"));
    BRAID_CHECK(database_.drop_collection(name));
    caller.note_change(name, 0);
    return Value(Object{{"collection", Value(name)}, {"dropped", true}});
}

Result<Value> Operations::compact(const Object& params, const Caller& caller) const {
    BRAID_TRY(const std::string name, whole_collection(params, caller, "compacting"));
    CallLimits limits = caller.call;
    limits.deadline.reset();
    BRAID_TRY(const CompactReport report, database_.compact(name, {}, limits));
    return Value(Object{{"collection", Value(name)},
                        {"chunks", report.chunks},
                        {"bytes_before", report.bytes_before},
                        {"bytes_after", report.bytes_after}});
}

Result<Value> Operations::check_database(const Object& params, const Caller& caller) const {
    const Fields fields(params);
    BRAID_CHECK(fields.finish());
    BRAID_CHECK(caller.require(Access::Admin, "*"));
    BRAID_TRY(const auto collections, database_.collections());
    for (const CollectionInfo& info : collections) {
        BRAID_CHECK(caller.require(Access::Admin, info.name));
    }
    if (!caller.sees_everything()) {
        return fail(ErrorCode::PermissionDenied,
                    "checking the database needs the right to see all of it");
    }
    CallLimits limits = caller.call;
    limits.deadline.reset();
    BRAID_TRY(CheckReport report, database_.check(limits));
    for (auto* const lines : {&report.problems, &report.unfinished, &report.notes}) {
        for (std::string& line : *lines) line = caller.told(std::move(line));
    }
    return wire::check_to_value(report);
}

}  // namespace braid::service
