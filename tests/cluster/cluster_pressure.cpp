#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/json/json.hpp"
#include "cluster/cluster_control.hpp"
#include "cluster/cluster_under_test.hpp"

// A node with room for one request in each queue: BRAID_NARROW_URL.
namespace braid::testing {
namespace {

std::int64_t rejected(const std::string& url, const std::string& pool) {
    const auto stats = json::parse(ask_node(url, "GET", "/_nodes/stats/thread_pool"));
    std::int64_t sum = 0;
    if (!stats) return sum;
    for (const auto& [id, node] : stats->find("nodes")->as_object()) {
        sum += node.find("thread_pool")->find(pool)->find("rejected")->as_int();
    }
    return sum;
}

TEST(ClusterPressure, AFullQueueIsWaitedForAndNothingIsLost) {
    const char* const url = std::getenv("BRAID_NARROW_URL");
    ASSERT_NE(url, nullptr) << "BRAID_NARROW_URL names no node";
    const auto backend =
        make_cluster_backend({.urls = {url}, .shards = 4, .replicas = 0, .max_attempts = 12});
    must(backend->create_collection("c", words_schema()));
    must(backend->upsert("c", "default", {make_chunk("first", "common")}, {}));
    const std::int64_t writes_before = rejected(url, "write");
    const std::int64_t searches_before = rejected(url, "search");
    std::atomic<std::size_t> acknowledged{1};
    std::atomic<int> full{0};
    std::vector<std::jthread> threads;
    for (int t = 0; t < 12; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 15; ++i) {
                std::vector<Chunk> batch;
                for (int j = 0; j < 20; ++j) {
                    batch.push_back(make_chunk(
                        std::to_string(t) + "-" + std::to_string(i) + "-" + std::to_string(j),
                        "common"));
                }
                const auto written = backend->upsert("c", "default", batch, {});
                if (written) {
                    acknowledged += written->written;
                } else {
                    EXPECT_NE(written.error().message.find("queue is full"), std::string::npos)
                        << written.error().message;
                    ++full;
                }
                const auto reader = backend->snapshot(std::vector<std::string>{"c"}, {});
                if (!reader) continue;
                const auto found = (*reader)->search_leg(words_leg(scope_of("c"), {"common"}));
                if (!found) {
                    EXPECT_EQ(found.error().code, ErrorCode::Unavailable) << found.error().message;
                    ++full;
                }
            }
        });
    }
    threads.clear();
    const auto reader = must(backend->snapshot(std::vector<std::string>{"c"}, {}));
    const std::uint64_t there = must(reader->count(scope_of("c")));
    EXPECT_GE(there, acknowledged);
    if (full == 0) {
        EXPECT_EQ(there, acknowledged);
    }
    const std::int64_t writes = rejected(url, "write") - writes_before;
    const std::int64_t searches = rejected(url, "search") - searches_before;
    std::printf("%lld writes and %lld searches were turned away, %d calls gave up\n",
                static_cast<long long>(writes), static_cast<long long>(searches), full.load());
    EXPECT_GT(writes + searches, 0) << "the queue was never full";
}

}  // namespace
}  // namespace braid::testing
