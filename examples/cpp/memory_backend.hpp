#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <braid/backend.hpp>

/// A backend of one's own, as small as one can be: chunks in a map, words split at spaces, scores
/// that count them. What it does not promise, answers say.
class MemoryBackend final : public braid::Backend {
public:
    /// Chunks of one collection; a snapshot shares them, a write makes a copy.
    struct Shelf {
        braid::Schema schema;
        std::map<std::string, std::map<std::string, braid::Chunk>> namespaces;
    };
    using Shelves = std::map<std::string, std::shared_ptr<const Shelf>>;

    braid::Capabilities capabilities() const override;

    braid::Result<> create_collection(const std::string& name,
                                      const braid::Schema& schema) override;
    braid::Result<> drop_collection(const std::string& name) override;
    braid::Result<std::vector<braid::CollectionInfo>> collections(
        const braid::Principal& principal) const override;
    braid::Result<braid::CollectionInfo> describe(const std::string& name,
                                                  const braid::Principal& principal) const override;
    braid::Result<braid::ReaderPtr> snapshot(std::span<const std::string> names,
                                             const braid::CallLimits& limits) const override;

    braid::Result<braid::WriteReport> upsert(const std::string& collection,
                                             const std::string& namespace_,
                                             std::vector<braid::Chunk> chunks,
                                             const braid::WriteOptions& options) override;
    braid::Result<braid::WriteReport> update(const std::string& collection,
                                             const std::string& namespace_,
                                             std::vector<braid::MetadataUpdate> updates,
                                             const braid::WriteOptions& options) override;
    braid::Result<braid::WriteReport> remove(const braid::ReadScope& scope,
                                             const braid::DeleteSelector& selector,
                                             const braid::WriteOptions& options) override;

private:
    braid::Result<std::shared_ptr<const Shelf>> find(const std::string& name) const;

    mutable std::mutex mutex_;
    Shelves shelves_;
    braid::Version version_ = 0;
};
