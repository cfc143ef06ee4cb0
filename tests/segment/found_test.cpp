#include <map>
#include <memory>
#include <string>
#include <vector>

#include "braid/forwarding.hpp"
#include "segment/model_database.hpp"

namespace braid::testing {
namespace {

constexpr std::size_t kDimension = 4;

Schema schema_of(unsigned seed) {
    Schema schema = vectors_schema(0, seed % 2 == 0 ? Metric::Cosine : Metric::Euclidean);
    if (seed % 3 == 0) schema.bm25.variant = Bm25Variant::Okapi;
    return schema;
}

ReadScope scope_in(const std::string& namespace_, const Principal& principal) {
    ReadScope scope = scope_of("c", principal);
    scope.namespace_ = namespace_;
    return scope;
}

/// Random changes of a database, with snapshots that are kept, and what was once found in them.
class Found {
public:
    explicit Found(unsigned seed)
        : data_(seed), database_(local::Engine::Segment, 12 + data_.below(20)) {
        must(database_.backend().create_collection("c", schema_of(seed)));
    }

    void change() {
        Backend& backend = database_.backend();
        const std::string& where = data_.pick(namespaces_);
        switch (data_.below(8)) {
            case 0:
                must(backend.remove(scope_in(where, {}), by_documents({data_.chunk(0).document_id}),
                                    {}));
                break;
            case 1: {
                MetadataUpdate update = data_.update();
                update.chunk_id = data_.chunk(0).chunk_id;
                const auto done = backend.update("c", where, {std::move(update)}, {});
                if (!done) expect_error(done, ErrorCode::NotFound);
                break;
            }
            case 2:
                database_.settle();
                break;
            default: {
                std::map<std::string, Chunk> chunks;
                for (std::size_t i = data_.below(8) + 1; i > 0; --i) {
                    Chunk chunk = data_.chunk(kDimension);
                    chunks[chunk.chunk_id] = chunk;
                }
                std::vector<Chunk> batch;
                for (auto& [id, chunk] : chunks) batch.push_back(std::move(chunk));
                must(backend.upsert("c", where, std::move(batch), {}));
            }
        }
        if (data_.chance(20)) snapshots_.push_back(database_.snapshot());
        if (snapshots_.size() > 4) {
            snapshots_.erase(snapshots_.begin() +
                             static_cast<std::ptrdiff_t>(data_.below(snapshots_.size())));
        }
    }

    /// What a leg finds, for anybody, in any snapshot, is found again by any leg of any other.
    void compare() {
        if (snapshots_.empty()) return;
        remember(*data_.pick(snapshots_), leg());
        const ReaderPtr& snapshot = data_.pick(snapshots_);
        Leg asking = leg();
        remember(*snapshot, asking);
        asking.kind = asking.kind == LegKind::Dense ? LegKind::Sparse : LegKind::Dense;
        std::vector<FoundChunk> chunks;
        Ids ids;
        for (const auto& [id, places] : places_) {
            chunks.push_back({.chunk_id = id, .found_at = data_.pick(places)});
            ids.push_back(id);
        }
        const auto slow = snapshot->score(asking, ids);
        const auto fast = snapshot->score_found(asking, chunks);
        ASSERT_EQ(slow.has_value(), fast.has_value());
        if (!slow) return;
        ASSERT_EQ(*slow, *fast);
        for (const auto& score : *slow) scored_ += score ? 1 : 0;
    }

    std::size_t scored() const { return scored_; }
    std::size_t placed() const { return placed_; }

private:
    Leg leg() {
        const ReadScope scope = scope_in(data_.pick(namespaces_), data_.pick(principals_));
        Leg leg = words_leg(scope, {data_.words(3), data_.words(1)});
        leg.kind = data_.chance(50) ? LegKind::Sparse : LegKind::Dense;
        leg.vector = data_.vector(kDimension);
        if (data_.chance(20)) {
            leg.clause = std::make_shared<const QueryClause>(data_.clauses({"content"}));
        }
        if (data_.chance(20)) leg.phrasings.pop_back();
        return leg;
    }
    void remember(const Reader& snapshot, const Leg& leg) {
        const LegResult found = must(snapshot.search_leg(leg));
        for (const LegHit& hit : found.hits) {
            places_[hit.chunk_id].push_back(hit.found_at);
            placed_ += hit.found_at.among != 0 ? 1 : 0;
        }
    }

    RandomData data_;
    Database database_;
    std::vector<std::string> namespaces_{"default", "other"};
    std::vector<Principal> principals_{
        {}, reader("public"), reader("normal", {"a"}), reader("restricted", {"a", "b"})};
    std::vector<ReaderPtr> snapshots_;
    std::map<std::string, std::vector<FoundAt>> places_;
    std::size_t scored_ = 0;
    std::size_t placed_ = 0;
};

TEST(FoundChunks, AreScoredAsThoseThatAreNamedWhateverHappenedSince) {
    std::size_t scored = 0;
    std::size_t placed = 0;
    for (unsigned seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Found found(seed);
        for (int step = 0; step < 200; ++step) {
            found.change();
            found.compare();
            if (::testing::Test::HasFailure()) return;
        }
        scored += found.scored();
        placed += found.placed();
    }
    EXPECT_GT(scored, 10'000U);
    EXPECT_GT(placed, 10'000U);
}

/// Gives chunks other ids, and does not know of places.
class Renaming final : public ForwardingReader {
public:
    using ForwardingReader::ForwardingReader;

    std::vector<Result<LegResult>> search(std::span<const Leg> legs) const override {
        auto results = inner().search(legs);
        for (auto& result : results) {
            for (LegHit& hit : result->hits) hit.chunk_id = "renamed " + hit.chunk_id;
        }
        return results;
    }
    Result<std::vector<std::optional<double>>> score(
        const Leg& leg, std::span<const std::string> chunk_ids) const override {
        ++asked;
        Ids own;
        for (const std::string& id : chunk_ids) own.push_back(id.substr(8));
        return inner().score(leg, own);
    }

    mutable int asked = 0;

private:
    ReaderPtr wrap(ReaderPtr inner) const override {
        return std::make_shared<Renaming>(std::move(inner));
    }
};

TEST(FoundChunks, AreLookedUpByAReaderThatOverridesOnlyScore) {
    Database database(local::Engine::Segment, 100);
    must(database.backend().create_collection("c", vectors_schema(0)));
    must(database.backend().upsert(
        "c", "default", {make_chunk("a", "owl", {1, 0}), make_chunk("b", "owl fox", {0, 1})}, {}));
    const Renaming reader(database.snapshot());
    const LegResult found = must(reader.search_leg(vector_leg(scope_of("c"), {1, 0})));
    ASSERT_EQ(found.hits.size(), 2U);
    EXPECT_NE(found.hits[0].found_at.among, 0U);
    std::vector<FoundChunk> chunks;
    for (const LegHit& hit : found.hits) chunks.push_back({hit.chunk_id, hit.found_at});
    const auto scores = must(reader.score_found(words_leg(scope_of("c"), {"fox"}), chunks));
    EXPECT_EQ(reader.asked, 1);
    ASSERT_EQ(scores.size(), 2U);
    EXPECT_EQ(scores[0], 0.0);
    EXPECT_GT(scores[1].value_or(0), 0.0);
}

}  // namespace
}  // namespace braid::testing
