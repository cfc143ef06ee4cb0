#include "braid/remote/remote_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "braid/core/base64.hpp"
#include "braid/core/charge.hpp"
#include "braid/core/limits.hpp"
#include "braid/core/unknown_collection.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/docs/probes_codec.hpp"
#include "braid/exact/facets.hpp"
#include "braid/exact/labels.hpp"
#include "braid/exact/visible_rows.hpp"
#include "braid/index/write_rules.hpp"
#include "braid/json/find_in.hpp"
#include "braid/json/json.hpp"
#include "braid/remote/answer_parts.hpp"
#include "braid/remote/facts.hpp"
#include "braid/remote/filter_query.hpp"
#include "braid/remote/kept.hpp"
#include "braid/remote/leg_query.hpp"
#include "braid/remote/remote_backend.hpp"
#include "braid/remote/tree_query.hpp"
#include "braid/store/bytes.hpp"

namespace braid::remote {
namespace {

constexpr std::size_t kPage = 1'000;  // chunks in one answer

std::int64_t below(std::int64_t index, std::size_t by) {
    constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
    const auto room = static_cast<std::uint64_t>(index) - static_cast<std::uint64_t>(kLow);
    return by >= room ? kLow : index - static_cast<std::int64_t>(by);
}
std::int64_t above(std::int64_t index, std::size_t by) {
    constexpr auto kHigh = std::numeric_limits<std::int64_t>::max();
    const auto room = static_cast<std::uint64_t>(kHigh) - static_cast<std::uint64_t>(index);
    return by >= room ? kHigh : static_cast<std::int64_t>(static_cast<std::uint64_t>(index) + by);
}

/// Everything stored costs less than part of it: the cluster then sends it without parsing it.
Value source_of(bool with_vectors) {
    return with_vectors ? Value(true) : Value(Array{"version", "chunk"});
}

}  // namespace

Result<bool> is_visible(const Chunk& chunk, const Principal& principal, const Schema& schema) {
    if (principal.sees_everything()) return true;
    BRAID_TRY(const std::size_t clearance, exact::clearance_of(principal, schema));
    const exact::Label label = exact::label_of(chunk, schema);
    if (label.level > clearance) return false;
    return label.scopes.empty() ||
           std::ranges::any_of(principal.scopes, [&](const std::string& scope) {
               return std::ranges::binary_search(label.scopes, scope);
           });
}

RemoteReader::Snapshot::~Snapshot() {
    if (points_.empty()) return;
    Array ids;
    for (const auto& [name, id] : points_) ids.emplace_back(id);
    CallLimits limits;
    limits.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    limits.interactive = true;
    // One that cannot be closed is forgotten by the cluster after its five minutes.
    (void)core_->client().send("DELETE", "/_search/point_in_time",
                               json::print(Object{{"pit_id", std::move(ids)}}), limits);
}

Result<RemoteCollectionPtr> RemoteReader::Snapshot::find(const std::string& name) const {
    const auto found = collections_.find(name);
    if (found == collections_.end()) return core::no_collection(name);
    return found->second;
}

std::string RemoteReader::Snapshot::open_point(const RemoteCollection& collection) const {
    const std::scoped_lock lock(mutex_);
    const auto found = points_.find(collection.meta.collection);
    return found != points_.end() ? found->second : std::string();
}

Result<std::string> RemoteReader::Snapshot::point_in_time(const RemoteCollection& collection,
                                                          const std::string& expired,
                                                          const CallLimits& limits) {
    const std::scoped_lock lock(mutex_);
    std::string& point = points_[collection.meta.collection];
    if (!point.empty() && point != expired) return point;
    point.clear();
    auto opened = core_->client().ask("POST",
                                      collection.path +
                                          "/_search/point_in_time?keep_alive=5m"
                                          "&allow_partial_pit_creation=false",
                                      "", limits);
    const Value* const id = opened ? opened->find("pit_id") : nullptr;
    if (id != nullptr && id->is_string()) {
        point = id->as_string();
        return point;
    }
    points_.erase(collection.meta.collection);
    if (!opened) return tl::unexpected<Error>(std::move(opened).error());
    return fail(ErrorCode::Unavailable, "the cluster opened no point in time");
}

Result<RemoteCollectionPtr> RemoteReader::readable(const std::string& collection) const {
    BRAID_CHECK(core::check_limits(limits_));
    BRAID_TRY(RemoteCollectionPtr found, snapshot_->find(collection));
    if (found->meta.filling) {
        return fail(ErrorCode::Unavailable,
                    "collection \"" + collection + "\" cannot be read: " + index::kUnfilled);
    }
    return found;
}

Result<RemoteCollectionPtr> RemoteReader::searchable(const std::string& collection) const {
    BRAID_TRY(RemoteCollectionPtr found, readable(collection));
    BRAID_CHECK(snapshot_->refresh(*found, limits_));
    return found;
}

Result<Value> RemoteReader::ask(const RemoteCollection& collection, Object body) const {
    SearchItem item;
    item.index = collection.index;
    item.pit = snapshot_->open_point(collection);
    item.body = std::move(body);
    auto answer = snapshot_->core().search_one(std::move(item), limits_);
    if (!answer && answer.error().code == ErrorCode::NotFound) {
        return core::no_collection(collection.meta.collection);
    }
    return answer;
}

Result<Array> RemoteReader::clauses_of(const ReadScope& scope,
                                       const RemoteCollection& collection) const {
    return scope_clauses(scope, collection.meta.schema, collection.expiry_at(snapshot_->now()));
}

Result<Chunk> RemoteReader::chunk_of(const Value& hit, bool with_vectors) const {
    const Value* const source = hit.find("_source");
    if (source == nullptr) return fail(ErrorCode::Unavailable, "a hit of the cluster is empty");
    BRAID_TRY(Chunk chunk, read_document(*source));
    BRAID_CHECK(core::charge(limits_, chunk, with_vectors ? chunk.vector.size() : 0));
    return chunk;
}

Result<Schema> RemoteReader::schema(const std::string& collection) const {
    BRAID_TRY(const RemoteCollectionPtr found, snapshot_->find(collection));
    return found->schema();
}

Result<std::shared_ptr<const rank::Model>> RemoteReader::ranker(
    const std::string& collection) const {
    BRAID_TRY(const RemoteCollectionPtr found, readable(collection));
    return snapshot_->core().ranker(*found, limits_);
}

Result<std::vector<std::string>> RemoteReader::analyze(const std::string& collection,
                                                       std::string_view text) const {
    BRAID_TRY(const RemoteCollectionPtr found, snapshot_->find(collection));
    return found->analyzer.query_terms(text);
}

Result<std::vector<std::optional<Chunk>>> RemoteReader::fetch(
    const ReadScope& scope, std::span<const std::string> chunk_ids, bool with_vectors) const {
    BRAID_TRY(const RemoteCollectionPtr collection, readable(scope.collection));
    const Schema& schema = collection->meta.schema;
    std::optional<docs::FilterMatcher> filter;
    if (scope.filter) {
        BRAID_TRY(filter, docs::FilterMatcher::create(*scope.filter, schema));
    }
    std::vector<std::optional<Chunk>> out(chunk_ids.size());
    if (chunk_ids.empty()) return out;
    BRAID_TRY(auto found, snapshot_->core().read(*collection, scope.namespace_, chunk_ids,
                                                 with_vectors, snapshot_->now(), limits_));
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (!found[i].chunk) continue;
        Chunk& chunk = *found[i].chunk;
        BRAID_TRY(const bool visible, is_visible(chunk, scope.principal, schema));
        if (!visible || (filter && !filter->matches(chunk))) continue;
        BRAID_CHECK(core::charge(limits_, chunk, chunk.vector.size()));
        out[i] = std::move(chunk);
    }
    return out;
}

Result<std::vector<std::vector<Chunk>>> RemoteReader::neighbors(
    const ReadScope& scope, std::span<const NeighborRange> ranges) const {
    BRAID_TRY(const RemoteCollectionPtr collection, searchable(scope.collection));
    BRAID_TRY(const Array clauses, clauses_of(scope, *collection));
    std::vector<SearchItem> items;
    for (const NeighborRange& range : ranges) {
        Array all = clauses;
        all.push_back(term_clause("doc", range.document_id));
        all.emplace_back(
            Object{{"range", Object{{"index", Object{{"gte", below(range.index, range.before)},
                                                     {"lte", above(range.index, range.after)}}}}}});
        SearchItem item;
        item.index = collection->index;
        item.pit = snapshot_->open_point(*collection);
        item.body = {{"size", Value(kMostHits)},
                     {"_source", source_of(false)},
                     {"query", all_of(std::move(all))},
                     {"sort", Array{Object{{"index", "asc"}}, Object{{"id", "asc"}}}}};
        items.push_back(std::move(item));
    }
    std::vector<std::vector<Chunk>> out;
    if (items.empty()) return out;
    auto answers = snapshot_->core().search(std::move(items), limits_);
    for (auto& answer : answers) {
        if (!answer) return tl::unexpected<Error>(std::move(answer).error());
        std::vector<Chunk>& chunks = out.emplace_back();
        for (const Value& hit : hits_of(*answer)) {
            BRAID_TRY(chunks.emplace_back(), chunk_of(hit, false));
        }
    }
    return out;
}

Result<std::uint64_t> RemoteReader::count(const ReadScope& scope) const {
    BRAID_TRY(const RemoteCollectionPtr collection, searchable(scope.collection));
    BRAID_TRY(Array clauses, clauses_of(scope, *collection));
    BRAID_TRY(const Value answer, ask(*collection, {{"size", 0},
                                                    {"track_total_hits", true},
                                                    {"query", all_of(std::move(clauses))}}));
    return count_in(answer, {"hits", "total", "value"});
}

/// The fields that chunks have, then how many chunks hold a value in each rather than an object or
/// null.
Result<std::vector<FacetCount>> RemoteReader::fields(const RemoteCollection& collection,
                                                     const Array& clauses,
                                                     std::size_t limit) const {
    const auto asked = [&](Object aggregations) {
        return ask(collection, {{"size", 0},
                                {"track_total_hits", false},
                                {"query", all_of(clauses)},
                                {"aggs", std::move(aggregations)}});
    };
    Object terms{{"field", "facts"},
                 {"size", Value(kPage)},
                 {"shard_size", Value(kPage * 2)},
                 {"include", metadata_field_words()}};
    BRAID_TRY(const Value answer, asked({{"fields", Object{{"terms", std::move(terms)}}}}));
    Object filters;
    for (const Value& bucket : list_in(answer, {"aggregations", "fields", "buckets"})) {
        const std::string* const word = text_in(bucket, {"key"});
        const auto field = word != nullptr ? metadata_field(*word) : std::nullopt;
        if (!field) continue;
        const std::string pattern = beginning_pattern(place_of(*field).prefix) + "[bdns].*";
        filters.set(*field, Object{{"regexp", Object{{"facts", pattern}}}});
    }
    if (filters.empty()) return std::vector<FacetCount>();
    BRAID_TRY(const Value counted,
              asked({{"values", Object{{"filters", Object{{"filters", filters}}}}}}));
    const std::string none;
    exact::FacetCounter counter(none, collection.meta.schema, limits_);
    for (const auto& [field, ignored] : filters) {
        const std::uint64_t count =
            count_in(counted, {"aggregations", "values", "buckets", field, "doc_count"});
        if (count > 0) BRAID_CHECK(counter.add({Value(field), count}));
    }
    return counter.most_frequent(limit);
}

Result<std::vector<FacetCount>> RemoteReader::facets(const ReadScope& scope,
                                                     const std::string& field,
                                                     std::size_t limit) const {
    BRAID_TRY(const RemoteCollectionPtr collection, searchable(scope.collection));
    const Schema& schema = collection->meta.schema;
    BRAID_TRY(Array clauses, clauses_of(scope, *collection));
    if (limit == 0) return std::vector<FacetCount>();
    if (field.empty()) return fields(*collection, clauses, limit);
    const FactPlace place = place_of(field);
    // More than asked for, so that values with equal counts can be ordered by value.
    const std::size_t size =
        std::min<std::size_t>(std::max<std::size_t>(limit * 2, 1'000), kMostHits);
    Object terms{
        {"field", Value(place.field)}, {"size", Value(size)}, {"shard_size", Value(size * 2)}};
    if (!place.is_id) terms.set("include", beginning_pattern(place.prefix) + "[bdns].*");
    BRAID_TRY(
        const Value answer,
        ask(*collection, {{"size", 0},
                          {"track_total_hits", false},
                          {"query", all_of(std::move(clauses))},
                          {"aggs", Object{{"values", Object{{"terms", std::move(terms)}}}}}}));
    exact::FacetCounter counter(field, schema, limits_);
    for (const Value& bucket : list_in(answer, {"aggregations", "values", "buckets"})) {
        const std::string* const key = text_in(bucket, {"key"});
        if (key == nullptr) continue;
        auto value = place.is_id ? std::optional<Value>(*key)
                                 : facet_value(std::string_view(*key).substr(place.prefix.size()));
        if (!value) continue;
        BRAID_CHECK(counter.add({*std::move(value), count_in(bucket, {"doc_count"})}));
    }
    return counter.most_frequent(limit);
}

Result<CollectionStats> RemoteReader::stats(const ReadScope& scope) const {
    BRAID_TRY(const RemoteCollectionPtr collection, searchable(scope.collection));
    BRAID_TRY(Array clauses, clauses_of(scope, *collection));
    const auto field = [](std::string_view name) { return Object{{"field", Value(name)}}; };
    Object aggregations{
        {"documents",
         Object{{"cardinality", Object{{"field", "doc"}, {"precision_threshold", 40'000}}}}},
        {"length", Object{{"avg", field("length")}}}};
    if (collection->meta.dimension != 0) {
        aggregations.set("vectors", Object{{"filter", Object{{"exists", field("vector")}}}});
    }
    BRAID_TRY(const Value answer, ask(*collection, {{"size", 0},
                                                    {"track_total_hits", true},
                                                    {"query", all_of(std::move(clauses))},
                                                    {"aggs", std::move(aggregations)}}));
    CollectionStats stats;
    stats.chunks = count_in(answer, {"hits", "total", "value"});
    stats.documents = count_in(answer, {"aggregations", "documents", "value"});
    stats.vectors = count_in(answer, {"aggregations", "vectors", "doc_count"});
    const Value* const length = json::find_in(answer, {"aggregations", "length", "value"});
    if (length != nullptr && length->is_number()) stats.average_length = length->as_double();
    if (!scope.principal.sees_everything()) return stats;
    BRAID_TRY(const Value store, snapshot_->core().client().ask(
                                     "GET", collection->path + "/_stats/store", "", limits_));
    stats.bytes_on_disk = count_in(store, {"_all", "total", "store", "size_in_bytes"});
    BRAID_TRY(const Kept kept, read_kept(snapshot_->core(), *collection,
                                         probes_name(scope.namespace_), true, limits_));
    if (const auto bytes = core::decode_base64(kept.text); bytes && !bytes->empty()) {
        store::ByteReader in(*bytes, "what was found out about the legs");
        // If damaged, they are made again.
        if (auto probes = docs::read_probes(in)) stats.probes = *std::move(probes);
    }
    return stats;
}

Result<std::vector<Chunk>> RemoteReader::scan(const ReadScope& scope, const std::string& after,
                                              std::size_t limit, bool with_vectors) const {
    BRAID_TRY(const RemoteCollectionPtr collection, searchable(scope.collection));
    BRAID_TRY(const Array clauses, clauses_of(scope, *collection));
    std::vector<Chunk> chunks;
    for (std::string last = after; chunks.size() < limit;) {
        const std::size_t size = std::min(kPage, limit - chunks.size());
        Object body{{"size", Value(size)},
                    {"_source", source_of(with_vectors)},
                    {"track_total_hits", false},
                    {"query", all_of(clauses)},
                    {"sort", Array{Object{{"id", "asc"}}}}};
        if (!last.empty()) body.set("search_after", Array{Value(last)});
        BRAID_TRY(const Value answer, ask(*collection, std::move(body)));
        const Array& hits = hits_of(answer);
        for (const Value& hit : hits) {
            BRAID_TRY(chunks.emplace_back(), chunk_of(hit, with_vectors));
        }
        if (hits.size() < size) break;
        last = chunks.back().chunk_id;
    }
    return chunks;
}

}  // namespace braid::remote
