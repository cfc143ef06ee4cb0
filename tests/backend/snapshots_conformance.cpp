#include <algorithm>

#include "backend/conformance.hpp"
#include "backend/dump.hpp"
#include "backend/random_data.hpp"

namespace braid::testing {
namespace {

DumpPlan everything(const std::string& collection, RandomData& random, std::size_t dimension) {
    DumpPlan plan;
    plan.collection = collection;
    plan.namespaces = {"default", "other"};
    plan.queries = {"w0 w1", "w2", random.words(5)};
    plan.vectors = {random.vector(dimension), random.real_vector(dimension)};
    plan.filters = {random.filter(), random.filter()};
    plan.facet_fields = {"kind", "year", "tags", "document_id", "sensitivity"};
    for (int i = 0; i < 60; i += 7) plan.chunk_ids.push_back("c" + std::to_string(i));
    for (int i = 0; i < 15; i += 4) plan.documents.push_back("d" + std::to_string(i));
    return plan;
}

/// A batch in which no id stands twice.
std::vector<Chunk> random_batch(RandomData& random, std::size_t size, std::size_t dimension) {
    std::vector<Chunk> batch;
    for (std::size_t i = 0; i < size; ++i) {
        Chunk chunk = random.chunk(dimension);
        const bool taken = std::ranges::any_of(
            batch, [&](const Chunk& other) { return other.chunk_id == chunk.chunk_id; });
        if (!taken) batch.push_back(std::move(chunk));
    }
    return batch;
}

TEST_P(BackendConformance, ASnapshotStaysTheSameUnderWrites) {
    if (!promised().snapshots) GTEST_SKIP() << "the backend does not promise snapshots";
    RandomData random(11);
    create(vectors_schema(4));
    put(random_batch(random, 40, 4));
    put(random_batch(random, 10, 4), "other");
    const DumpPlan plan = everything("c", random, 4);
    const std::vector<Principal> principals{{}, reader("normal", {"red"})};

    std::vector<ReaderPtr> snapshots;
    std::vector<std::string> before;
    for (int round = 0; round < 6; ++round) {
        snapshots.push_back(now());
        for (const Principal& principal : principals) {
            before.push_back(dump(snapshots.back(), principal, plan));
        }
        put(random_batch(random, 8, 4));
        put(random_batch(random, 3, 4), "other");
        erase(by_ids({"c" + std::to_string(random.below(60))}));
        erase(by_documents({"d" + std::to_string(random.below(15))}));
        erase(by_filter(random.filter()));
        for (const std::string& id : all_ids()) {
            MetadataUpdate update = random.update();
            update.chunk_id = id;
            if (random.chance(20)) must(backend().update("c", "default", {update}, {}));
        }
    }
    std::size_t at = 0;
    for (const ReaderPtr& snapshot : snapshots) {
        for (const Principal& principal : principals) {
            EXPECT_EQ(dump(snapshot, principal, plan), before[at++]);
        }
    }
    EXPECT_NE(before.front(), dump(now(), {}, plan)) << "something did change";
}

TEST_P(BackendConformance, ASnapshotOutlivesTheRemovalOfManyOldVersions) {
    if (!promised().snapshots) GTEST_SKIP() << "the backend does not promise snapshots";
    RandomData random(12);
    create(vectors_schema(4));
    Model model = model_of(vectors_schema(4));
    const auto write = [&](const std::vector<Chunk>& batch) {
        put(batch);
        for (const Chunk& chunk : batch) model.upsert("default", chunk);
    };
    write(random_batch(random, 40, 4));
    const DumpPlan plan = everything("c", random, 4);
    ReaderPtr early = now();
    const std::string at_early = dump(early, {}, plan);
    // 6 x 500 versions die: enough for every store to clean up in between.
    for (int round = 0; round < 6; ++round) {
        std::vector<Chunk> batch;
        for (int i = 0; i < 500; ++i) {
            batch.push_back(random.chunk(4));
            batch.back().chunk_id = "many" + std::to_string(i);
        }
        write(batch);
        EXPECT_EQ(dump(early, {}, plan), at_early) << "round " << round;
    }
    const ReaderPtr late = now();
    const std::string at_late = dump(late, {}, plan);
    early.reset();
    for (int i = 0; i < 400; i += 100) {
        Ids doomed;
        for (int j = i; j < i + 100; ++j) doomed.push_back("many" + std::to_string(j));
        erase(by_ids(doomed));
        for (const std::string& id : doomed) model.remove("default", id);
        EXPECT_EQ(dump(late, {}, plan), at_late) << "after " << i + 100 << " deletions";
    }
    const Leg words = words_leg(scope(reader("sensitive")), {"w0 w3"});
    expect_list(words, model);
    const Leg near = vector_leg(scope(), random.vector(4));
    expect_list(near, model);
}

TEST_P(BackendConformance, AnswersDoNotDependOnTheHistoryOfTheChunks) {
    if (!promised().live_df) GTEST_SKIP() << "the backend does not promise live_df";
    RandomData random(13);
    create(vectors_schema(4), "direct");
    const auto batch = random_batch(random, 50, 4);
    put(batch);
    create(vectors_schema(4), "detour");
    for (const Chunk& chunk : batch) {  // one by one, backwards, after other versions
        put({make_chunk(chunk.chunk_id, "another text entirely", {1, 2, 3, 4})});
    }
    put({make_chunk("gone", "w0 w0 w0", {1, 1, 1, 1})});
    for (auto chunk = batch.rbegin(); chunk != batch.rend(); ++chunk) put({*chunk});
    erase(by_ids({"gone"}));

    DumpPlan plan = everything("direct", random, 4);
    plan.versions = DumpPlan::Versions::LeftOut;
    const Ids names{"direct", "detour"};
    const ReaderPtr snapshot = must(backend().snapshot(names, {}));
    for (const Principal& principal : {Principal{}, reader("sensitive", {"blue"})}) {
        plan.collection = "direct";
        const std::string direct = dump(snapshot, principal, plan);
        plan.collection = "detour";
        EXPECT_EQ(dump(snapshot, principal, plan), direct);
    }
}

TEST_P(BackendConformance, RandomHistoriesGiveWhatTheModelGives) {
    for (unsigned seed = 100; seed < 104; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        RandomData random(seed);
        Schema schema = vectors_schema(3, static_cast<Metric>(seed % 3));
        schema.text_fields = {{"content", 1.0}, {"title", 2.2}};
        create(schema, "s" + std::to_string(seed));
        Model model = model_of(schema);
        for (int step = 0; step < 30; ++step) {
            const std::string space = random.chance(80) ? "default" : "other";
            ReadScope here = scope();
            here.namespace_ = space;
            if (random.chance(60)) {
                const auto batch = random_batch(random, 1 + random.below(6), 3);
                put(batch, space);
                for (const Chunk& chunk : batch) model.upsert(space, chunk);
            } else if (random.chance(50)) {
                ReadScope chosen = here;
                chosen.filter = random.filter();
                const auto doomed = model.chunks(chosen);
                Ids ids;
                for (const Chunk* chunk : doomed) ids.push_back(chunk->chunk_id);
                EXPECT_EQ(must(backend().remove(here, by_filter(*chosen.filter), {})).written,
                          ids.size());
                for (const std::string& id : ids) model.remove(space, id);
            } else if (const auto present = model.chunks(here); !present.empty()) {
                MetadataUpdate update = random.update();
                update.chunk_id = random.pick(present)->chunk_id;
                must(backend().update(collection(), space, {update}, {}));
                model.update(space, update);
            }
            const std::vector<std::string> clearances{"public", "normal", "sensitive"};
            here.principal = random.chance(50) ? Principal{} : reader(random.pick(clearances));
            if (random.chance(50)) here.filter = random.filter();
            const Leg words = words_leg(here, {random.words(3), random.words(1)});
            expect_list(words, model);
            const Leg near = vector_leg(here, random.vector(3));
            expect_list(near, model);
            for (const char* field : {"kind", "year", "document_id", "visibility_scope"}) {
                EXPECT_EQ(must(now()->facets(here, field, 1000)), model.facets(here, field));
            }
            EXPECT_EQ(must(now()->count(here)), model.chunks(here).size());
            if (HasFailure()) return;
        }
    }
}

}  // namespace
}  // namespace braid::testing
