// Who writes faster than the disk takes segments is held up: what is in no file yet stays bounded,
// and all of it is found.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/local/local_backend.hpp"
#include "store/faulty_directory.hpp"

namespace braid::testing {
namespace {

using store::testing::FaultyDisk;

TEST(BackPressure, BoundsWhatIsInNoFileAndHidesNothing) {
    constexpr std::uint64_t flush_rows = 50;
    constexpr int batches = 60;
    constexpr int batch = 25;
    FaultyDisk disk;
    local::LocalOptions options;
    options.flush_rows = flush_rows;
    const auto backend = std::move(must(local::open_local_backend(disk.root(), options)).backend);
    must(backend->create_collection("c", vectors_schema(2)));
    // A flush syncs several files, a write one.
    disk.plan().set_sync_delay(std::chrono::milliseconds(2));
    std::uint64_t most = 0;
    const std::vector<std::string> names{"c"};
    for (int i = 0; i < batches; ++i) {
        std::vector<Chunk> chunks;
        for (int j = 0; j < batch; ++j) {
            const int number = i * batch + j;
            chunks.push_back(make_chunk("c" + std::to_string(number),
                                        "all only" + std::to_string(number),
                                        {1, static_cast<float>(number)}));
        }
        must(backend->upsert("c", "default", std::move(chunks), {}));
        const ReaderPtr now = must(backend->snapshot(names, {}));
        const auto written = static_cast<std::uint64_t>((i + 1) * batch);
        ASSERT_EQ(must(now->count(scope_of("c"))), written);
        const std::string last = std::to_string(written - 1);
        ASSERT_EQ(ids_of(must(now->search_leg(words_leg(scope_of("c"), {"only" + last})))),
                  Ids{"c" + last});
        ASSERT_EQ(must(now->search_leg(vector_leg(scope_of("c"), {0, 1}, 1))).hits.at(0).chunk_id,
                  "c" + last);
        most = std::max(most, must(now->stats(scope_of("c"))).index->in_memory);
    }
    // One buffer that is being written, and one that meanwhile grew to twice its size.
    EXPECT_LE(most, 3 * flush_rows + 2 * batch);
    EXPECT_GT(most, flush_rows) << "nobody had to wait";
}

}  // namespace
}  // namespace braid::testing
