#include "braid/remote/remote_backend.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "braid/core/collection_list.hpp"
#include "braid/index/write_rules.hpp"
#include "braid/json/find_in.hpp"
#include "braid/json/json.hpp"
#include "braid/remote/answer_parts.hpp"
#include "braid/remote/filter_query.hpp"
#include "braid/remote/remote_reader.hpp"
#include "braid/remote/write_summary.hpp"

namespace braid::remote {
namespace {

constexpr std::size_t kMostNamespaces = 10'000;
constexpr auto kLastLook = std::chrono::seconds(2);

}  // namespace

Result<std::unique_ptr<Backend>> open_remote_backend(RemoteOptions options) {
    const bool good = !options.prefix.empty() &&
                      std::ranges::all_of(options.prefix,
                                          [](char c) {
                                              return (c >= 'a' && c <= 'z') ||
                                                     (c >= '0' && c <= '9') || c == '-' || c == '_';
                                          }) &&
                      options.prefix.front() != '-' && options.prefix.front() != '_' &&
                      options.prefix.size() <= 50;
    if (!good) {
        return invalid_argument("the prefix of indexes, \"" + options.prefix +
                                "\", must be 1 to 50 of a-z, 0-9, - and _, a letter first");
    }
    if (options.shards == 0 || options.shards > 1024) {
        return invalid_argument("a collection has 1 to 1024 shards, not " +
                                std::to_string(options.shards));
    }
    BRAID_TRY(auto client, ClusterClient::create(options));
    return std::unique_ptr<Backend>(std::make_unique<RemoteBackend>(
        std::make_shared<ClusterCore>(std::move(options), std::move(client))));
}

Capabilities RemoteBackend::capabilities() const {
    return {.exact_lengths = false,      // the cluster rounds lengths of 40 terms and more
            .scoped_statistics = false,  // words are weighed by all chunks of a collection
            .live_df = false,            // deleted chunks count until segments are merged
            .exact_dense = true,
            .whole_ranking = false,
            .query_language = true,
            .snapshots = false,  // a point in time begins with the second page
            .read_your_writes = true,
            .atomic_batches = false,
            .expiry = true,
            .skips_unchanged = true};
}

Result<> RemoteBackend::create_collection(const std::string& name, const Schema& schema) {
    return create(name, schema, false);
}

Result<> RemoteBackend::begin_collection(const std::string& name, const Schema& schema) {
    const auto found = core_->find_now(name, {});
    if (found && (*found)->meta.filling) BRAID_CHECK(drop_collection(name));
    return create(name, schema, true);
}

Result<> RemoteBackend::create(const std::string& name, const Schema& schema, bool filling) {
    BRAID_CHECK(validate_collection_name(name));
    BRAID_CHECK(validate(schema));
    BRAID_CHECK(check_supported(schema));
    const IndexMeta meta{.collection = name,
                         .schema = schema,
                         .filling = filling,
                         .dimension = schema.vectors.has_vectors() ? schema.vectors.dimension : 0,
                         .made = new_version()};
    BRAID_CHECK(core_->make(meta));  // the analyzer is unknown here
    BRAID_CHECK(core_->meet({}));
    const std::string path = "/" + index_path(core_->options().prefix, name);
    auto created =
        core_->client().ask("PUT", path, json::print(index_body(meta, core_->options())), {});
    core_->forget(name);
    if (created) return {};
    const std::string& why = created.error().message;
    if (why.find("resource_already_exists") != std::string::npos) {
        // By this very call, if the answer to its first request was lost.
        const auto there = core_->find_now(name, {});
        if (there && (*there)->meta.made == meta.made) return {};
        if (!there && there.error().code == ErrorCode::NotFound) {
            return fail(ErrorCode::AlreadyExists,
                        "the cluster has an index \"" + index_name(core_->options().prefix, name) +
                            "\" that is not braid's; choose another name or another prefix");
        }
        return index::name_in_use(name);
    }
    if (why.find("[knn_vector]") != std::string::npos ||
        why.find("[index.knn]") != std::string::npos) {
        return fail(ErrorCode::Unsupported,
                    "collection \"" + name +
                        "\": the cluster lacks the plugin k-NN (opensearch-knn), which vectors "
                        "need; install it on every node, or create the collection with the "
                        "embedder \"none\"");
    }
    return fail("collection \"" + name + "\"", std::move(created).error());
}

Result<> RemoteBackend::finish_collection(const std::string& name) {
    BRAID_TRY(const RemoteCollectionPtr found, core_->find_now(name, {}));
    if (!found->meta.filling) {
        return index::not_being_filled(name);
    }
    IndexMeta meta = found->meta;
    meta.filling = false;
    auto changed =
        core_->client().ask("PUT", found->path + "/_mapping", json::print(mapping_body(meta)), {});
    if (!changed) return tl::unexpected<Error>(std::move(changed).error());
    BRAID_CHECK(core_->find_now(name, {}));
    return {};
}

Result<> RemoteBackend::drop_collection(const std::string& name) {
    BRAID_TRY(const RemoteCollectionPtr found, core_->find_now(name, {}));
    auto dropped = core_->client().ask("DELETE", found->path, "", {});
    core_->dropped(name);
    // A repeated request finds nothing left, which is what was wanted.
    if (dropped || dropped.error().code == ErrorCode::NotFound) return {};
    return tl::unexpected<Error>(std::move(dropped).error());
}

Result<std::vector<CollectionInfo>> RemoteBackend::collections(const Principal& principal) const {
    const std::string prefix = core_->options().prefix;
    BRAID_CHECK(core_->meet({}));
    BRAID_TRY(
        const Value answer,
        core_->client().ask(
            "GET",
            "/" + prefix + "*/_mapping?cluster_manager_timeout=5s&expand_wildcards=open,closed", "",
            {}));
    std::vector<CollectionInfo> infos;
    if (!answer.is_object()) return infos;
    for (const auto& [index, description] : answer.as_object()) {
        const Value* const mappings = description.find("mappings");
        auto meta = mappings != nullptr ? read_mapping(*mappings)
                                        : Result<IndexMeta>(fail(ErrorCode::NotFound, ""));
        if (!meta) {
            if (meta.error().code == ErrorCode::NotFound) continue;  // somebody else's index
            CollectionInfo& info = infos.emplace_back();
            info.name = index.substr(prefix.size());
            info.damage = meta.error().message;
            continue;
        }
        // Another prefix may begin with ours.
        if (index_name(prefix, meta->collection) != index) continue;
        core::add_described(infos, meta->collection, describe(meta->collection, principal));
    }
    std::ranges::sort(infos, {}, &CollectionInfo::name);
    return infos;
}

Result<CollectionInfo> RemoteBackend::describe(const std::string& name,
                                               const Principal& principal) const {
    BRAID_TRY(const RemoteCollectionPtr found, core_->find_now(name, {}));
    BRAID_CHECK(core_->refresh_written(*found, {}));
    return describe(*found, principal, {});
}

Result<CollectionInfo> RemoteBackend::describe(const RemoteCollection& collection,
                                               const Principal& principal,
                                               const CallLimits& limits) const {
    CollectionInfo info;
    info.name = collection.meta.collection;
    info.schema = collection.schema();
    if (collection.meta.filling) info.damage = index::kUnfilled;
    BRAID_TRY(info.schema.vectors.dimension, visible_dimension(collection, principal, limits));
    auto clauses =
        principal_clauses(principal, collection.meta.schema, collection.expiry_at(core_->now()));
    if (!clauses) return info;  // a clearance that is not a level here: the principal sees nothing
    clauses->emplace_back(Object{{"exists", Object{{"field", "ns"}}}});  // chunks, not removals
    const Object documents{
        {"cardinality", Object{{"field", "doc"}, {"precision_threshold", 40'000}}}};
    SearchItem item;
    item.index = collection.index;
    item.body = {
        {"size", 0},
        {"track_total_hits", true},
        {"query", all_of(*std::move(clauses))},
        {"aggs", Object{{"spaces", Object{{"terms", Object{{"field", "ns"},
                                                           {"size", Value(kMostNamespaces)},
                                                           {"order", Object{{"_key", "asc"}}}}},
                                          {"aggs", Object{{"documents", documents}}}}}}}};
    BRAID_TRY(const Value answer, core_->search_one(std::move(item), limits));
    info.chunks = count_in(answer, {"hits", "total", "value"});
    for (const Value& bucket : list_in(answer, {"aggregations", "spaces", "buckets"})) {
        if (const std::string* const key = text_in(bucket, {"key"})) {
            info.namespaces.push_back(*key);
        }
        info.documents += count_in(bucket, {"documents", "value"});
    }
    if (!principal.sees_everything()) return info;
    const auto store = core_->client().ask("GET", collection.path + "/_stats/store", "", limits);
    if (store) info.bytes_on_disk = count_in(*store, {"_all", "total", "store", "size_in_bytes"});
    return info;
}

Result<std::size_t> RemoteBackend::visible_dimension(const RemoteCollection& collection,
                                                     const Principal& principal,
                                                     const CallLimits& limits) const {
    if (!collection.meta.schema.vectors.has_vectors())
        return collection.meta.schema.vectors.dimension;
    const std::size_t dimension = collection.meta.dimension;
    if (collection.meta.schema.vectors.dimension != 0 || dimension == 0 ||
        principal.sees_everything()) {
        return dimension;
    }
    auto clauses =
        principal_clauses(principal, collection.meta.schema, collection.expiry_at(core_->now()));
    if (!clauses) return std::size_t{0};
    clauses->emplace_back(Object{{"exists", Object{{"field", "vector"}}}});
    SearchItem item;
    item.index = collection.index;
    item.body = {{"size", 1}, {"_source", false}, {"query", all_of(*std::move(clauses))}};
    BRAID_TRY(const Value answer, core_->search_one(std::move(item), limits));
    return hits_of(answer).empty() ? std::size_t{0} : dimension;
}

Result<ReaderPtr> RemoteBackend::snapshot(std::span<const std::string> collections,
                                          const CallLimits& limits) const {
    // A caller out of time is told so by the reads, not by taking the snapshot.
    CallLimits looking = limits;
    if (limits.expired()) looking.deadline = std::chrono::steady_clock::now() + kLastLook;
    std::map<std::string, RemoteCollectionPtr> found;
    for (const std::string& name : collections) {
        BRAID_TRY(found[name], core_->find(name, looking));
    }
    return ReaderPtr(std::make_shared<RemoteReader>(
        std::make_shared<RemoteReader::Snapshot>(core_, std::move(found)), limits));
}

}  // namespace braid::remote
