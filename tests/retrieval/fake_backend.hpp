#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "braid/backend.hpp"

namespace braid::retrieval {

/// A Backend whose legs are functions of the test. It holds one collection, "default", whose chunks
/// all exist and say their own id.
class FakeBackend final : public Backend {
public:
    using LegFn = std::function<Result<LegResult>(const Leg&)>;

    FakeBackend(LegFn dense, LegFn sparse) : dense_(std::move(dense)), sparse_(std::move(sparse)) {
        schema_.vectors.embedder = "external";
        schema_.vectors.dimension = 2;
    }

    Schema& schema_for_test() { return schema_; }

    Capabilities capabilities() const override { return {}; }
    Result<> create_collection(const std::string&, const Schema&) override { return {}; }
    Result<> drop_collection(const std::string&) override { return {}; }
    Result<std::vector<CollectionInfo>> collections(const Principal&) const override {
        return std::vector<CollectionInfo>{};
    }
    Result<CollectionInfo> describe(const std::string&, const Principal&) const override {
        return CollectionInfo{};
    }
    Result<Schema> schema(const SnapshotPtr&, const std::string&) const override { return schema_; }
    Result<WriteReport> upsert(const std::string&, const std::string&, std::vector<Chunk>,
                               const WriteOptions&) override {
        return WriteReport{};
    }
    Result<WriteReport> update(const std::string&, const std::string&, std::vector<MetadataUpdate>,
                               const WriteOptions&) override {
        return WriteReport{};
    }
    Result<WriteReport> remove(const ReadScope&, const DeleteSelector&,
                               const WriteOptions&) override {
        return WriteReport{};
    }
    Result<SnapshotPtr> snapshot(std::span<const std::string> names) const override {
        if (names.front() != "default") {
            return fail(ErrorCode::NotFound, "there is no collection \"" + names.front() + "\"");
        }
        return std::make_shared<const Snapshot>();
    }
    Result<LegResult> search_leg(const SnapshotPtr&, const Leg& leg,
                                 const CallLimits&) const override {
        return leg.kind == LegKind::Dense ? dense_(leg) : sparse_(leg);
    }
    Result<std::vector<std::optional<double>>> score(const SnapshotPtr&, const Leg&,
                                                     std::span<const std::string> ids,
                                                     const CallLimits&) const override {
        return std::vector<std::optional<double>>(ids.size(), 0.125);
    }
    Result<std::vector<std::optional<std::uint64_t>>> rank_of(const SnapshotPtr&, const Leg&,
                                                              std::span<const std::string> ids,
                                                              const CallLimits&) const override {
        return std::vector<std::optional<std::uint64_t>>(ids.size());
    }
    Result<std::vector<std::optional<Chunk>>> fetch(const SnapshotPtr&, const ReadScope&,
                                                    std::span<const std::string> ids, bool,
                                                    const CallLimits&) const override {
        std::vector<std::optional<Chunk>> chunks;
        for (const std::string& id : ids) {
            Chunk chunk;
            chunk.chunk_id = id;
            chunk.document_id = id;
            chunk.content = "text of " + id;
            chunks.emplace_back(std::move(chunk));
        }
        return chunks;
    }
    Result<std::vector<Chunk>> neighbors(const SnapshotPtr&, const ReadScope&, const std::string&,
                                         std::int64_t, std::size_t, std::size_t,
                                         const CallLimits&) const override {
        return std::vector<Chunk>{};
    }
    Result<std::uint64_t> count(const SnapshotPtr&, const ReadScope&,
                                const CallLimits&) const override {
        return std::uint64_t{0};
    }
    Result<std::vector<FacetCount>> facets(const SnapshotPtr&, const ReadScope&, const std::string&,
                                           std::size_t, const CallLimits&) const override {
        return std::vector<FacetCount>{};
    }
    Result<CollectionStats> stats(const SnapshotPtr&, const ReadScope&,
                                  const CallLimits&) const override {
        return CollectionStats{};
    }
    Result<std::vector<Chunk>> scan(const SnapshotPtr&, const ReadScope&, const std::string&,
                                    std::size_t, bool, const CallLimits&) const override {
        return std::vector<Chunk>{};
    }

private:
    Schema schema_;
    LegFn dense_;
    LegFn sparse_;
};

/// A leg that always answers with these hits, cut to the depth.
inline FakeBackend::LegFn leg_of(std::vector<LegHit> hits) {
    return [hits = std::move(hits)](const Leg& leg) -> Result<LegResult> {
        LegResult result;
        result.matched = hits.size();
        result.hits = hits;
        if (result.hits.size() > leg.depth) result.hits.resize(leg.depth);
        return result;
    };
}

}  // namespace braid::retrieval
