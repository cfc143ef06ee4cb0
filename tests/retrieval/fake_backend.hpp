#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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

    Capabilities capabilities() const override {
        return {.exact_lengths = true,
                .scoped_statistics = true,
                .live_df = true,
                .exact_dense = true,
                .whole_ranking = true,
                .snapshots = true,
                .read_your_writes = true,
                .atomic_batches = true};
    }
    Result<> create_collection(const std::string&, const Schema&) override { return {}; }
    Result<> drop_collection(const std::string&) override { return {}; }
    Result<std::vector<CollectionInfo>> collections(const Principal&) const override {
        return std::vector<CollectionInfo>{};
    }
    Result<CollectionInfo> describe(const std::string&, const Principal&) const override {
        return CollectionInfo{};
    }
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
    Result<ReaderPtr> snapshot(std::span<const std::string> names,
                               const CallLimits&) const override {
        if (names.front() != "default") {
            return fail(ErrorCode::NotFound, "there is no collection \"" + names.front() + "\"");
        }
        return ReaderPtr(std::make_shared<FakeReader>(*this));
    }

private:
    class FakeReader final : public Reader {
    public:
        explicit FakeReader(const FakeBackend& backend) : backend_(backend) {}

        ReaderPtr with(const CallLimits&) const override {
            return std::make_shared<FakeReader>(backend_);
        }
        Result<Schema> schema(const std::string&) const override { return backend_.schema_; }
        /// The text as it is.
        Result<std::vector<std::string>> analyze(const std::string&,
                                                 std::string_view text) const override {
            return std::vector<std::string>{std::string(text)};
        }
        std::vector<Result<LegResult>> search(std::span<const Leg> legs) const override {
            return search_each(legs, [this](const Leg& leg) {
                return leg.kind == LegKind::Dense ? backend_.dense_(leg) : backend_.sparse_(leg);
            });
        }
        Result<std::vector<std::optional<double>>> score(
            const Leg&, std::span<const std::string> ids) const override {
            return std::vector<std::optional<double>>(ids.size(), 0.125);
        }
        Result<std::vector<std::optional<std::uint64_t>>> rank_of(
            const Leg&, std::span<const std::string> ids) const override {
            return std::vector<std::optional<std::uint64_t>>(ids.size());
        }
        Result<std::vector<std::optional<Chunk>>> fetch(const ReadScope&,
                                                        std::span<const std::string> ids,
                                                        bool) const override {
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
        Result<std::vector<std::vector<Chunk>>> neighbors(
            const ReadScope&, std::span<const NeighborRange> ranges) const override {
            return std::vector<std::vector<Chunk>>(ranges.size());
        }
        Result<std::uint64_t> count(const ReadScope&) const override { return std::uint64_t{0}; }
        Result<std::vector<FacetCount>> facets(const ReadScope&, const std::string&,
                                               std::size_t) const override {
            return std::vector<FacetCount>{};
        }
        Result<CollectionStats> stats(const ReadScope&) const override { return CollectionStats{}; }
        Result<std::vector<Chunk>> scan(const ReadScope&, const std::string&, std::size_t,
                                        bool) const override {
            return std::vector<Chunk>{};
        }

    private:
        const FakeBackend& backend_;
    };

    Schema schema_;
    LegFn dense_;
    LegFn sparse_;
};

/// A leg that always answers with these hits, cut to the depth, from the one asked for on.
inline FakeBackend::LegFn leg_of(std::vector<LegHit> hits) {
    return [hits = std::move(hits)](const Leg& leg) -> Result<LegResult> {
        LegResult result;
        result.matched.count = hits.size();
        result.hits = hits;
        if (leg.after) {
            const auto last = std::ranges::find(result.hits, *leg.after);
            result.hits.erase(result.hits.begin(), std::next(last));
        }
        result.exhausted = result.hits.size() <= leg.depth;
        if (result.hits.size() > leg.depth) result.hits.resize(leg.depth);
        return result;
    };
}

}  // namespace braid::retrieval
