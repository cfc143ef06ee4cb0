#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "braid/core/fair_shared_mutex.hpp"
#include "braid/exact/partition.hpp"

namespace braid::segment {

/// Chunks written since the last flush, in memory and searched exhaustively. One thread at a time
/// may change it while any number of others read.
class Buffer {
public:
    /// The schema must outlive it.
    explicit Buffer(const Schema& schema) : schema_(schema) {}

    /// For the writer: creates it if it is missing.
    exact::Partition& writable(const std::string& namespace_) {
        if (const auto found = partitions_.find(namespace_); found != partitions_.end()) {
            return *found->second;
        }
        auto fresh = std::make_shared<exact::Partition>(schema_);
        const std::unique_lock lock(mutex_);
        return *partitions_.emplace(namespace_, std::move(fresh)).first->second;
    }
    /// Null if the buffer holds nothing of that namespace.
    std::shared_ptr<exact::Partition> partition(const std::string& namespace_) const {
        const std::shared_lock lock(mutex_);
        const auto found = partitions_.find(namespace_);
        return found == partitions_.end() ? nullptr : found->second;
    }
    std::map<std::string, std::shared_ptr<exact::Partition>> partitions() const {
        const std::shared_lock lock(mutex_);
        return partitions_;
    }

    /// How many versions of chunks it holds, dead ones included, and roughly how many bytes they
    /// take.
    std::uint64_t rows() const noexcept { return rows_; }
    std::uint64_t bytes() const noexcept { return bytes_; }
    /// The last record in it. Set when the buffer is frozen, before anybody asks.
    void freeze(index::Sequence at) noexcept { frozen_at_ = at; }
    index::Sequence frozen_at() const noexcept { return frozen_at_; }
    void count(std::uint64_t bytes) noexcept {
        ++rows_;
        bytes_ += bytes;
    }

private:
    const Schema& schema_;
    std::atomic<std::uint64_t> rows_ = 0;
    std::atomic<std::uint64_t> bytes_ = 0;
    std::atomic<index::Sequence> frozen_at_ = 0;
    /// Guards the map: held to look up a partition or to add one. The writer reads without it.
    mutable core::FairSharedMutex mutex_;
    std::map<std::string, std::shared_ptr<exact::Partition>> partitions_;
};

}  // namespace braid::segment
