#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "backend/local_backends.hpp"
#include "backend/random_data.hpp"
#include "braid/apps/vocabulary.hpp"
#include "braid/forwarding.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/answer_json.hpp"
#include "cluster/cluster_under_test.hpp"
#include "server/service_fixture.hpp"

// Given the legs of the cluster, an answer is the same to the last bit whichever backend the rest
// comes from: fusion and everything after it are this side's own.
namespace braid::testing {
namespace {

class LegsFrom final : public ForwardingReader {
public:
    LegsFrom(ReaderPtr rest, ReaderPtr legs)
        : ForwardingReader(std::move(rest)), legs_(std::move(legs)) {}

    ReaderPtr with(const CallLimits& limits) const override {
        return std::make_shared<LegsFrom>(inner().with(limits), legs_->with(limits));
    }
    std::vector<Result<LegResult>> search(std::span<const Leg> legs) const override {
        return legs_->search(legs);
    }
    Result<std::vector<std::optional<double>>> score(
        const Leg& leg, std::span<const std::string> chunk_ids) const override {
        return legs_->score(leg, chunk_ids);
    }

private:
    ReaderPtr wrap(ReaderPtr inner) const override {
        return std::make_shared<LegsFrom>(std::move(inner), legs_);
    }
    ReaderPtr legs_;
};

/// What a search finds comes from the cluster, all else from here.
class Half final : public ForwardingBackend {
public:
    Half(std::unique_ptr<Backend> here, std::shared_ptr<Backend> cluster)
        : ForwardingBackend(std::move(here)), cluster_(std::move(cluster)) {}

    Capabilities capabilities() const override { return cluster_->capabilities(); }
    Result<ReaderPtr> snapshot(std::span<const std::string> collections,
                               const CallLimits& limits) const override {
        BRAID_TRY(ReaderPtr rest, inner().snapshot(collections, limits));
        BRAID_TRY(ReaderPtr legs, cluster_->snapshot(collections, limits));
        return ReaderPtr(std::make_shared<LegsFrom>(std::move(rest), std::move(legs)));
    }

private:
    std::shared_ptr<Backend> cluster_;
};

Database must_open(Result<Database> database) {
    EXPECT_TRUE(database);
    return *std::move(database);
}

TEST(ClusterFusion, IsTheSameGivenTheSameLegs) {
    const remote::RemoteOptions options{.prefix = "fusion" + std::to_string(getpid()) + "-",
                                        .shards = 3};
    const std::shared_ptr<Backend> cluster = make_cluster_backend(options);
    const BackendUnderTest embedded = local_backends().front();  // with the folder it is in
    auto local = embedded.make();
    RandomData random(7);
    std::vector<Chunk> chunks;
    for (int i = 0; i < 300; ++i) {
        chunks.push_back(random.chunk(8));
        chunks.back().chunk_id = "c" + std::to_string(i);
    }
    for (Backend* const backend : {cluster.get(), local.get()}) {
        must(backend->create_collection("c", vectors_schema(8)));
        must(backend->upsert("c", "default", chunks, {}));
    }
    // A search here makes what was written searchable for the others, too.
    const ReaderPtr now = must(cluster->snapshot(std::vector<std::string>{"c"}, {}));
    EXPECT_EQ(must(now->count({.collection = "c"})), 300U);
    remote::RemoteOptions same = options;
    same.urls = cluster_urls();
    const Database whole =
        must_open(Database::over(must(remote::open_remote_backend(same)), fake_embedders()));
    const Database half = must_open(
        Database::over(std::make_unique<Half>(std::move(local), cluster), fake_embedders()));

    for (const FusionMethod method :
         {FusionMethod::Rrf, FusionMethod::WeightedSum, FusionMethod::Dbsf, FusionMethod::Auto}) {
        for (int i = 0; i < 12; ++i) {
            Request request;
            request.collections = {"c"};
            request.query = random.words(1 + random.below(4));
            request.query_embedding = random.vector(8);
            request.fusion.method = method;
            request.dense_top_k = 5 + random.below(40);
            request.sparse_top_k = 5 + random.below(40);
            request.exact = true;
            if (i % 3 == 1) request.filter = random.filter();
            if (i % 4 == 2 && method == FusionMethod::WeightedSum)
                request.fusion.fill_scores = true;
            SCOPED_TRACE(request.query + ", method " + std::to_string(static_cast<int>(method)));
            const auto expected = whole.retrieve(request);
            const auto given = half.retrieve(request);
            ASSERT_TRUE(expected.has_value()) << expected.error().message;
            ASSERT_TRUE(given.has_value()) << given.error().message;
            Value a = wire::answer_to_value(*expected, apps::vocabulary());
            Value b = wire::answer_to_value(*given, apps::vocabulary());
            drop_own(a);
            drop_own(b);
            EXPECT_EQ(json::print(a), json::print(b));
        }
    }
}

}  // namespace
}  // namespace braid::testing
