#include <latch>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "local/database_in_memory.hpp"

namespace braid::testing {
namespace {

// A compaction that takes a collection's place lets no writer begin while one is at work. If that
// one were a filter, which takes its time, all the others would wait for it.
TEST(FilterDelete, HoldsUpNeitherACompactionNorTheWritersBehindIt) {
    const DatabaseInMemory database;
    const auto backend = database.open();
    must(backend->create_collection("c", words_schema()));
    std::vector<Chunk> chunks;
    for (int i = 0; i < 5000; ++i) {
        Chunk chunk = make_chunk("c" + std::to_string(i), "word");
        chunk.metadata = {{"n", i}};
        chunks.push_back(std::move(chunk));
    }
    must(backend->upsert("c", "default", chunks, {}));

    std::latch inside(1);
    std::latch go_on(1);
    bool first = true;
    WriteOptions options;
    options.limits.gone = [&] {
        if (!std::exchange(first, false)) return false;
        inside.count_down();
        go_on.wait();
        return false;
    };
    const DeleteSelector large = by_filter(Filter::compare(Filter::Op::Gte, "n", 1000));
    std::uint64_t deleted = 0;
    std::jthread remover(
        [&] { deleted = must(backend->remove(scope_of("c"), large, options)).written; });
    inside.wait();
    const auto work = must(backend->compaction("c"));
    for (auto batch = must(work->pending(1000)); !batch.chunks.empty();
         batch = must(work->pending(1000))) {
        must(work->put(std::move(batch)));
    }
    EXPECT_TRUE(must(work->finish()));
    Chunk late = make_chunk("late", "word");
    late.metadata = {{"n", 7000}};
    must(backend->upsert("c", "default", {late}, {}));
    go_on.count_down();
    remover.join();
    EXPECT_EQ(deleted, 4001U);
    EXPECT_EQ(ids_in(*backend, "c").size(), 1000U);
    EXPECT_TRUE(must(backend->check({})).clean());
}

}  // namespace
}  // namespace braid::testing
