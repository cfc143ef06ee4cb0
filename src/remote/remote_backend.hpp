#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "braid/backend.hpp"
#include "braid/remote/bulk.hpp"
#include "braid/remote/cluster_core.hpp"

namespace braid::remote {

/// Collections as indexes of a search cluster. Distribution, copies and failover are the cluster's.
class RemoteBackend final : public Backend {
public:
    explicit RemoteBackend(std::shared_ptr<ClusterCore> core) : core_(std::move(core)) {}

    Capabilities capabilities() const override;

    Result<> create_collection(const std::string& name, const Schema& schema) override;
    Result<> drop_collection(const std::string& name) override;
    Result<> begin_collection(const std::string& name, const Schema& schema) override;
    Result<> finish_collection(const std::string& name) override;
    Result<std::vector<CollectionInfo>> collections(const Principal& principal) const override;
    Result<CollectionInfo> describe(const std::string& name,
                                    const Principal& principal) const override;
    Result<ReaderPtr> snapshot(std::span<const std::string> collections,
                               const CallLimits& limits) const override;

    Result<WriteReport> upsert(const std::string& collection, const std::string& namespace_,
                               std::vector<Chunk> chunks, const WriteOptions& options) override;
    Result<WriteReport> update(const std::string& collection, const std::string& namespace_,
                               std::vector<MetadataUpdate> updates,
                               const WriteOptions& options) override;
    Result<WriteReport> remove(const ReadScope& scope, const DeleteSelector& selector,
                               const WriteOptions& options) override;

    Result<std::unique_ptr<Rewrite>> rewrite(const std::string& collection,
                                             const Schema& schema) override;
    Result<std::unique_ptr<Rewrite>> compaction(const std::string& collection) override;

    Result<> set_ranker(const std::string& collection, const std::string& model) override;
    Result<> set_probes(const std::string& collection, const std::string& namespace_,
                        const LegProbes& probes) override;

    BackendHealth health() const override;
    Result<CheckReport> check(const CallLimits& limits) const override;
    Result<CheckReport> backup(const std::filesystem::path& path,
                               const CallLimits& limits) const override;

private:
    using Stored = std::vector<StoredChunk>;
    /// A chunk found by a search, and what its removal depends on.
    struct Named {
        std::string id;
        Version version = 0;
        Dependency dependency;
    };

    /// The operations for those of a batch still to be written; in the first round, others may
    /// follow them.
    using Prepare = std::function<Result<std::vector<BulkOperation>>(
        std::span<const std::size_t> open, bool first)>;

    Result<> create(const std::string& name, const Schema& schema, bool filling);
    Result<CollectionInfo> describe(const RemoteCollection& collection, const Principal& principal,
                                    const CallLimits& limits) const;
    Result<std::size_t> visible_dimension(const RemoteCollection& collection,
                                          const Principal& principal,
                                          const CallLimits& limits) const;
    /// The first vectors decide the dimension of all.
    Result<RemoteCollectionPtr> with_dimension(RemoteCollectionPtr collection,
                                               std::size_t dimension, const CallLimits& limits);
    /// The first chunk that expires makes searches check the time.
    Result<RemoteCollectionPtr> with_expiry(RemoteCollectionPtr collection,
                                            const CallLimits& limits);
    /// The places in a batch of chunks that are not stored exactly so; `unchanged` counts the
    /// others.
    Result<std::vector<std::size_t>> changed(const RemoteCollection& collection,
                                             const std::string& namespace_,
                                             const std::vector<Chunk>& chunks,
                                             const WriteOptions& options,
                                             std::uint64_t& unchanged) const;
    /// Writes chunks, given by their places in a batch. Those that somebody else changed between
    /// reading and writing are prepared and written again, unless `only_once`. `collection` may
    /// change while preparing.
    Result<WriteReport> write_in_rounds(const RemoteCollectionPtr& collection,
                                        const std::string& namespace_,
                                        std::vector<std::size_t> open, Version version,
                                        bool only_once, const Prepare& prepare);
    Result<> check_batch(std::vector<Chunk>& chunks, const RemoteCollection& collection,
                         const WriteOptions& options) const;
    Result<std::vector<Named>> select(const RemoteCollection& collection, const ReadScope& scope,
                                      Array clauses, const CallLimits& limits) const;
    Result<std::vector<Named>> left_out(const RemoteCollection& collection,
                                        const std::string& namespace_,
                                        const std::vector<Chunk>& batch, const Principal& principal,
                                        const CallLimits& limits) const;
    Result<WriteReport> remove_ids(const RemoteCollection& collection, const ReadScope& scope,
                                   const std::vector<std::string>& ids,
                                   const WriteOptions& options);
    Result<WriteReport> remove_selected(const RemoteCollection& collection, const ReadScope& scope,
                                        const DeleteSelector& selector,
                                        const WriteOptions& options);
    /// Forgets what was removed or expired long ago.
    void forget_past(const RemoteCollection& collection);

    std::shared_ptr<ClusterCore> core_;
};

}  // namespace braid::remote
