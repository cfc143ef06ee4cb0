#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "braid/backend.hpp"
#include "braid/retrieval/query_embedder.hpp"

namespace braid::retrieval {

/// A real backend in memory, with faults on demand: what a hook returns fails the call instead of
/// the backend's own answer.
class LocalStore final : public Backend {
public:
    LocalStore();

    std::function<std::optional<Error>(const Leg&)> leg_fault;
    std::function<void(const Leg&, LegResult&)> leg_garbage;  // spoils what the leg found
    std::function<std::optional<Error>(const std::string& collection)> fetch_fault;
    std::function<std::optional<Error>(const std::string& collection)> pin_fault;
    mutable std::vector<Leg> searched;  // only if `remember` is set
    bool remember = false;

    /// Adds chunks to a collection, which it creates if need be. Vectors come from fake_embed of
    /// the content where a chunk has none.
    void add(const std::string& collection, std::vector<Chunk> chunks,
             const std::string& embedder = "fake");

    Capabilities capabilities() const override;
    Result<> create_collection(const std::string& name, const Schema& schema) override;
    Result<> drop_collection(const std::string& name) override;
    Result<std::vector<CollectionInfo>> collections(const Principal& principal) const override;
    Result<CollectionInfo> describe(const std::string& name,
                                    const Principal& principal) const override;
    Result<WriteReport> upsert(const std::string& collection, const std::string& namespace_,
                               std::vector<Chunk> chunks, const WriteOptions& options) override;
    Result<WriteReport> update(const std::string& collection, const std::string& namespace_,
                               std::vector<MetadataUpdate> updates,
                               const WriteOptions& options) override;
    Result<WriteReport> remove(const ReadScope& scope, const DeleteSelector& selector,
                               const WriteOptions& options) override;
    Result<SnapshotPtr> snapshot(std::span<const std::string> names) const override;
    Result<Schema> schema(const SnapshotPtr& snapshot,
                          const std::string& collection) const override;
    Result<LegResult> search_leg(const SnapshotPtr& snapshot, const Leg& leg,
                                 const CallLimits& limits) const override;
    Result<TextStatistics> text_statistics(const SnapshotPtr& snapshot, const Leg& leg,
                                           const CallLimits& limits) const override;
    Result<std::vector<std::optional<double>>> score(const SnapshotPtr& snapshot, const Leg& leg,
                                                     std::span<const std::string> chunk_ids,
                                                     const CallLimits& limits) const override;
    Result<std::vector<std::optional<std::uint64_t>>> rank_of(
        const SnapshotPtr& snapshot, const Leg& leg, std::span<const std::string> chunk_ids,
        const CallLimits& limits) const override;
    Result<std::vector<std::optional<Chunk>>> fetch(const SnapshotPtr& snapshot,
                                                    const ReadScope& scope,
                                                    std::span<const std::string> chunk_ids,
                                                    bool with_vectors,
                                                    const CallLimits& limits) const override;
    Result<std::vector<Chunk>> neighbors(const SnapshotPtr& snapshot, const ReadScope& scope,
                                         const std::string& document_id, std::int64_t index,
                                         std::size_t before, std::size_t after,
                                         const CallLimits& limits) const override;
    Result<std::uint64_t> count(const SnapshotPtr& snapshot, const ReadScope& scope,
                                const CallLimits& limits) const override;
    Result<std::vector<FacetCount>> facets(const SnapshotPtr& snapshot, const ReadScope& scope,
                                           const std::string& field, std::size_t limit,
                                           const CallLimits& limits) const override;
    Result<CollectionStats> stats(const SnapshotPtr& snapshot, const ReadScope& scope,
                                  const CallLimits& limits) const override;
    Result<std::vector<Chunk>> scan(const SnapshotPtr& snapshot, const ReadScope& scope,
                                    const std::string& after, std::size_t limit, bool with_vectors,
                                    const CallLimits& limits) const override;

private:
    std::unique_ptr<Backend> inner_;
    mutable std::mutex mutex_;  // of `searched`
};

/// The embedder of LocalStore's collections: texts that share words get similar vectors.
std::vector<float> fake_embed(std::string_view text);
QueryEmbedder fake_query_embedder();

Chunk chunk_of(std::string id, std::string content);
/// A chunk of an artifact, with an index.
Chunk chunk_of(std::string id, std::string artifact, std::int64_t index, std::string content);

}  // namespace braid::retrieval
