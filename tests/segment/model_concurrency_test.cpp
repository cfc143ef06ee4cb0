// Readers beside a writer, flushes and merges: each compares what it sees with what the exact
// engine showed at the same moment.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/share.hpp"
#include "segment/model_database.hpp"

#ifndef BRAID_MODEL_TIMES
#define BRAID_MODEL_TIMES 1
#endif

namespace braid::testing {
namespace {

struct Pair {
    ReaderPtr exact;
    ReaderPtr segments;
};

/// Some hundred changes by one thread, while `readers` look; some of them go on with a snapshot
/// that is older.
void run_beside_each_other(unsigned seed, const Schema& schema, int steps, unsigned readers) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Database::Clock clock{1'700'000'000'000'000};
    Database exact(local::Engine::Exact, 1, &clock);
    Database segments(local::Engine::Segment, 6, &clock, Database::Work::InBackground);
    for (Database* database : {&exact, &segments}) {
        must(database->backend().create_collection("c", schema));
    }
    std::mutex moment;  // of both databases: a change reaches both, or neither
    std::atomic<bool> done = false;
    std::atomic<int> compared = 0;
    const auto read = [&](unsigned number) {
        RandomData random(seed * 100 + number);
        Pair seen;
        do {
            if (!seen.exact || random.chance(70)) {
                const std::scoped_lock lock(moment);
                seen = {exact.snapshot(), segments.snapshot()};
            }
            const auto ask = static_cast<unsigned>(random.below(1000));
            const Principal& principal = random.pick(principals());
            ASSERT_EQ(shown(seen.segments, principal, ask), shown(seen.exact, principal, ask));
            ++compared;
        } while (!done);
    };
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < readers; ++i) threads.emplace_back(read, i);
        RandomData random(seed);
        for (int step = 0; step < steps; ++step) {
            {
                const std::scoped_lock lock(moment);
                change(random, Timestamp{clock}, exact, segments);
                clock += static_cast<std::int64_t>(random.below(6));
            }
            // Readers are to have their turn as well.
            while (compared < step / 8 && !::testing::Test::HasFailure()) std::this_thread::yield();
        }
        done = true;
    }
    EXPECT_EQ(must(segments.backend().check({})).problems, std::vector<std::string>());
    const std::string before = shown(exact.snapshot(), {}, seed);
    EXPECT_EQ(shown(segments.snapshot(), {}, seed), before);
    segments.reopen();
    EXPECT_EQ(shown(segments.snapshot(), {}, seed), before);
}

TEST(SegmentModelBesideEachOther, ReadersSeeWhatTheExactEngineShows) {
    for (unsigned seed = 0; seed < share_of(6) * BRAID_MODEL_TIMES; ++seed) {
        Schema schema = vectors_schema(3, static_cast<Metric>(seed % 3));
        if (seed % 3 == 2) schema.bm25.variant = Bm25Variant::Okapi;
        run_beside_each_other(seed, schema, 400, 3);
        if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace braid::testing
