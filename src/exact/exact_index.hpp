#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "braid/core/fair_shared_mutex.hpp"
#include "braid/exact/partition.hpp"
#include "braid/index/index.hpp"

namespace braid::exact {

/// The executable specification: every chunk in memory, every search exhaustive. It keeps nothing
/// on disk, so the log is replayed from its start.
class ExactIndex final : public index::Index {
public:
    ExactIndex(Schema schema, text::Analyzer analyzer);

    Result<std::uint64_t> upsert(const std::string& namespace_, std::vector<PreparedChunk> chunks,
                                 Sequence sequence, Timestamp now) override;
    Result<std::uint64_t> update(const std::string& namespace_,
                                 std::span<const MetadataUpdate> updates, Version version,
                                 Sequence sequence) override;
    Result<std::uint64_t> remove(const std::string& namespace_, std::span<const std::string> ids,
                                 Sequence sequence) override;
    Result<std::uint64_t> drop(const std::string& namespace_, Sequence sequence) override;
    void settle(Sequence oldest) override;
    Sequence persisted() const noexcept override { return 0; }

    Result<std::unique_ptr<index::View>> view(const index::ViewOf& of) const override;
    std::vector<std::string> namespaces() const override;

    std::uint64_t live_bytes() const noexcept override { return live_bytes_; }
    std::unique_ptr<index::Check> check(const std::string& namespace_, Sequence at,
                                        std::size_t dimension,
                                        core::Findings& findings) const override;

private:
    /// An empty partition if there is no namespace of that name.
    std::shared_ptr<const Partition> partition(const std::string& namespace_) const;
    /// Runs `change(partition)`, creating the partition if it is missing, and counts its bytes.
    template <class Change>
    std::uint64_t write(const std::string& namespace_, const Change& change);

    const Schema schema_;
    const text::Analyzer analyzer_;
    const bool searches_metadata_;
    const std::shared_ptr<const Partition> empty_;
    std::atomic<std::uint64_t> live_bytes_ = 0;
    std::vector<std::string> changed_;  // namespaces since settle(); the writer's

    /// Guards the map: held to look up a partition or to add one. The writer reads without it.
    mutable core::FairSharedMutex mutex_;
    std::map<std::string, std::shared_ptr<Partition>> partitions_;
};

}  // namespace braid::exact
