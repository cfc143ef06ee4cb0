#include "retrieval/local_store.hpp"

#include <cstdlib>

#include "braid/local/local_backend.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/memory_directory.hpp"
#include "embed/fake_embedder.hpp"

namespace braid::retrieval {
namespace {

constexpr std::size_t kDimension = 16;

void require(bool done) {
    if (!done) std::abort();  // the fixture itself is broken
}

}  // namespace

LocalStore::LocalStore() {
    auto opened = local::open_local_backend(store::make_memory_directory(), {});
    require(opened.has_value());
    inner_ = std::move(opened->backend);
}

void LocalStore::add(const std::string& collection, std::vector<Chunk> chunks,
                     const std::string& embedder) {
    if (!inner_->describe(collection, {})) {
        Schema schema;
        schema.vectors.embedder = embedder;
        schema.vectors.dimension = embedder == "none" ? 0 : kDimension;
        require(inner_->create_collection(collection, schema).has_value());
    }
    for (Chunk& chunk : chunks) {
        if (embedder != "none" && chunk.vector.empty()) chunk.vector = fake_embed(chunk.content);
    }
    require(inner_->upsert(collection, "default", std::move(chunks), {}).has_value());
}

Capabilities LocalStore::capabilities() const {
    return inner_->capabilities();
}
Result<> LocalStore::create_collection(const std::string& name, const Schema& schema) {
    return inner_->create_collection(name, schema);
}
Result<> LocalStore::drop_collection(const std::string& name) {
    return inner_->drop_collection(name);
}
Result<std::vector<CollectionInfo>> LocalStore::collections(const Principal& principal) const {
    return inner_->collections(principal);
}
Result<CollectionInfo> LocalStore::describe(const std::string& name,
                                            const Principal& principal) const {
    return inner_->describe(name, principal);
}
Result<WriteReport> LocalStore::upsert(const std::string& collection, const std::string& namespace_,
                                       std::vector<Chunk> chunks, const WriteOptions& options) {
    return inner_->upsert(collection, namespace_, std::move(chunks), options);
}
Result<WriteReport> LocalStore::update(const std::string& collection, const std::string& namespace_,
                                       std::vector<MetadataUpdate> updates,
                                       const WriteOptions& options) {
    return inner_->update(collection, namespace_, std::move(updates), options);
}
Result<WriteReport> LocalStore::remove(const ReadScope& scope, const DeleteSelector& selector,
                                       const WriteOptions& options) {
    return inner_->remove(scope, selector, options);
}
Result<SnapshotPtr> LocalStore::snapshot(std::span<const std::string> names) const {
    for (const std::string& name : names) {
        if (!pin_fault) break;
        if (auto error = pin_fault(name)) return tl::unexpected(*std::move(error));
    }
    return inner_->snapshot(names);
}
Result<Schema> LocalStore::schema(const SnapshotPtr& snapshot,
                                  const std::string& collection) const {
    return inner_->schema(snapshot, collection);
}
Result<LegResult> LocalStore::search_leg(const SnapshotPtr& snapshot, const Leg& leg,
                                         const CallLimits& limits) const {
    if (remember) {
        const std::scoped_lock lock(mutex_);  // legs are searched side by side
        searched.push_back(leg);
    }
    if (leg_fault) {
        if (auto error = leg_fault(leg)) return tl::unexpected(*std::move(error));
    }
    auto result = inner_->search_leg(snapshot, leg, limits);
    if (result && leg_garbage) leg_garbage(leg, *result);
    return result;
}
Result<std::vector<std::optional<double>>> LocalStore::score(const SnapshotPtr& snapshot,
                                                             const Leg& leg,
                                                             std::span<const std::string> chunk_ids,
                                                             const CallLimits& limits) const {
    return inner_->score(snapshot, leg, chunk_ids, limits);
}
Result<TextStatistics> LocalStore::text_statistics(const SnapshotPtr& snapshot, const Leg& leg,
                                                   const CallLimits& limits) const {
    return inner_->text_statistics(snapshot, leg, limits);
}
Result<std::vector<std::optional<std::uint64_t>>> LocalStore::rank_of(
    const SnapshotPtr& snapshot, const Leg& leg, std::span<const std::string> chunk_ids,
    const CallLimits& limits) const {
    return inner_->rank_of(snapshot, leg, chunk_ids, limits);
}
Result<std::vector<std::optional<Chunk>>> LocalStore::fetch(const SnapshotPtr& snapshot,
                                                            const ReadScope& scope,
                                                            std::span<const std::string> chunk_ids,
                                                            bool with_vectors,
                                                            const CallLimits& limits) const {
    if (fetch_fault) {
        if (auto error = fetch_fault(scope.collection)) return tl::unexpected(*std::move(error));
    }
    return inner_->fetch(snapshot, scope, chunk_ids, with_vectors, limits);
}
Result<std::vector<Chunk>> LocalStore::neighbors(const SnapshotPtr& snapshot,
                                                 const ReadScope& scope,
                                                 const std::string& document_id, std::int64_t index,
                                                 std::size_t before, std::size_t after,
                                                 const CallLimits& limits) const {
    return inner_->neighbors(snapshot, scope, document_id, index, before, after, limits);
}
Result<std::uint64_t> LocalStore::count(const SnapshotPtr& snapshot, const ReadScope& scope,
                                        const CallLimits& limits) const {
    return inner_->count(snapshot, scope, limits);
}
Result<std::vector<FacetCount>> LocalStore::facets(const SnapshotPtr& snapshot,
                                                   const ReadScope& scope, const std::string& field,
                                                   std::size_t limit,
                                                   const CallLimits& limits) const {
    return inner_->facets(snapshot, scope, field, limit, limits);
}
Result<CollectionStats> LocalStore::stats(const SnapshotPtr& snapshot, const ReadScope& scope,
                                          const CallLimits& limits) const {
    return inner_->stats(snapshot, scope, limits);
}
Result<std::vector<Chunk>> LocalStore::scan(const SnapshotPtr& snapshot, const ReadScope& scope,
                                            const std::string& after, std::size_t limit,
                                            bool with_vectors, const CallLimits& limits) const {
    return inner_->scan(snapshot, scope, after, limit, with_vectors, limits);
}

std::vector<float> fake_embed(std::string_view text) {
    static const embed::FakeEmbedder kEmbedder(kDimension);
    return kEmbedder.embed(std::span(&text, 1), TextRole::Passage, {})->front().vector;
}

QueryEmbedder fake_query_embedder() {
    return [](const Schema&, std::string_view text, const CallLimits&) -> Result<QueryVector> {
        return QueryVector{fake_embed(text), false, {}};
    };
}

Chunk chunk_of(std::string id, std::string content) {
    Chunk chunk;
    chunk.chunk_id = std::move(id);
    chunk.content = std::move(content);
    return chunk;
}

Chunk chunk_of(std::string id, std::string artifact, std::int64_t index, std::string content) {
    Chunk chunk = chunk_of(std::move(id), std::move(content));
    chunk.document_id = std::move(artifact);
    chunk.chunk_index = index;
    return chunk;
}

}  // namespace braid::retrieval
