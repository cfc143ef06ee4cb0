#include <atomic>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "braid/net/client/http_client.hpp"
#include "cluster/cluster_under_test.hpp"

// What a cluster does when its nodes fail. Each test leaves all three nodes running.
namespace braid::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

/// Of tests/cluster/cluster.
void cluster(const std::string& command) {
    const char* const script = std::getenv("BRAID_CLUSTER");
    ASSERT_NE(script, nullptr) << "BRAID_CLUSTER names no script";
    ASSERT_EQ(std::system((std::string(script) + " " + command).c_str()), 0) << command;
}

std::string ask(std::size_t node, const std::string& method, const std::string& path) {
    net::HttpClientOptions options;
    options.allow_private = true;
    options.total_timeout = milliseconds(5'000);
    net::HttpRequest request;
    request.method = method;
    request.url = cluster_urls().at(node) + path;
    const auto answer = net::HttpClient(options).send(request, {});
    return answer ? answer->body : std::string();
}

/// Polls until every node is there and every copy is in place.
void wait_until_green() {
    for (const auto end = Clock::now() + seconds(180); Clock::now() < end;) {
        const std::string health =
            ask(0, "GET", "/_cluster/health?wait_for_nodes=3&wait_for_status=green&timeout=1s");
        if (health.find("\"timed_out\":false") != std::string::npos) return;
        std::this_thread::sleep_for(milliseconds(500));
    }
    FAIL() << "the cluster did not become green again";
}

CallLimits within(milliseconds time) {
    CallLimits limits;
    limits.deadline = Clock::now() + time;
    return limits;
}

class ClusterFailure : public ::testing::Test {
protected:
    void SetUp() override {
        if (cluster_urls().size() < 3) GTEST_SKIP() << "needs three nodes";
        remote::RemoteOptions options;
        options.shards = 3;
        options.replicas = 1;
        backend_ = make_cluster_backend(options);
        must(backend_->create_collection("c", words_schema()));
        wait_until_green();
    }
    void write(const std::string& id) {
        const auto written = backend_->upsert("c", "default", {make_chunk(id, "common " + id)}, {});
        if (written) {
            acknowledged_.insert(id);
        } else {
            refused_.insert(id);
        }
    }
    ReaderPtr now() const {
        const std::vector<std::string> names{"c"};
        return must(backend_->snapshot(names, {}));
    }
    void expect_nothing_lost() const {
        const auto chunks = must(now()->scan(scope_of("c"), "", 100'000, false));
        std::set<std::string> there;
        for (const Chunk& chunk : chunks) there.insert(chunk.chunk_id);
        for (const std::string& id : acknowledged_) {
            EXPECT_TRUE(there.contains(id)) << id << " was acknowledged and is gone";
        }
        EXPECT_LE(there.size(), acknowledged_.size() + refused_.size());
    }
    /// Writes while `fail` happens, then for some seconds more, and searches all the while.
    void under_load(const std::function<void()>& fail) {
        for (int i = 0; i < 50; ++i) write("before" + std::to_string(i));
        std::atomic<bool> done{false};
        std::atomic<int> searches{0};
        std::atomic<int> incomplete{0};
        std::jthread searching([&] {
            while (!done) {
                const auto reader = backend_->snapshot(std::vector<std::string>{"c"}, {});
                if (!reader) continue;
                const auto found = (*reader)->search_leg(words_leg(scope_of("c"), {"common"}));
                if (!found) continue;  // an error is an answer; a part of the hits is not
                ++searches;
                if (found->hits.size() < 50) ++incomplete;
            }
        });
        fail();
        const auto end = Clock::now() + seconds(8);
        for (int i = 0; Clock::now() < end; ++i) write("after" + std::to_string(i));
        done = true;
        searching.join();
        EXPECT_GT(searches, 0);
        EXPECT_EQ(incomplete, 0) << "of " << searches;
        EXPECT_GT(acknowledged_.size(), 50U) << "nothing could be written after the failure";
    }

    std::unique_ptr<Backend> backend_;
    std::set<std::string> acknowledged_;
    std::set<std::string> refused_;
};

TEST_F(ClusterFailure, AKilledNodeLosesNothingThatWasAcknowledged) {
    under_load([] { cluster("kill 2"); });
    expect_nothing_lost();
    cluster("node 2");
    wait_until_green();
    expect_nothing_lost();
}

TEST_F(ClusterFailure, AKilledManagerIsReplaced) {
    const std::string manager = ask(0, "GET", "/_cat/cluster_manager?h=node");
    ASSERT_EQ(manager.front(), 'n') << manager;
    const std::string number(1, manager.at(1));
    under_load([&] { cluster("kill " + number); });
    expect_nothing_lost();
    cluster("node " + number);
    wait_until_green();
    expect_nothing_lost();
}

TEST_F(ClusterFailure, WithTwoOfThreeDeadThereIsAnErrorAndNoWrongAnswer) {
    for (int i = 0; i < 30; ++i) write("c" + std::to_string(i));
    (void)now();
    cluster("kill 1");
    cluster("kill 2");
    std::this_thread::sleep_for(seconds(2));
    const auto reader = backend_->snapshot(std::vector<std::string>{"c"}, {});
    if (reader) {
        const auto limited = (*reader)->with(within(seconds(8)));
        const auto counted = limited->count(scope_of("c"));
        if (counted) {
            EXPECT_EQ(*counted, 30U);  // if its copies were all on the node that is left
        } else {
            EXPECT_TRUE(counted.error().code == ErrorCode::Unavailable ||
                        counted.error().code == ErrorCode::DeadlineExceeded)
                << counted.error().message;
        }
    }
    cluster("node 1");
    cluster("node 2");
    wait_until_green();
    EXPECT_EQ(must(now()->count(scope_of("c"))), 30U);
    expect_nothing_lost();
}

TEST_F(ClusterFailure, ASlowNodeCostsNoMoreThanTheDeadline) {
    for (int i = 0; i < 10; ++i) write("c" + std::to_string(i));
    const ReaderPtr reader = now();
    cluster("pause 1");
    for (int i = 0; i < 6; ++i) {
        const auto start = Clock::now();
        const auto found = reader->with(within(milliseconds(1'500)))
                               ->search_leg(words_leg(scope_of("c"), {"common"}));
        EXPECT_LT(Clock::now() - start, seconds(4));
        if (found) {
            EXPECT_EQ(found->hits.size(), 10U);
        } else {
            EXPECT_TRUE(found.error().code == ErrorCode::DeadlineExceeded ||
                        found.error().code == ErrorCode::Unavailable)
                << found.error().message;
        }
    }
    cluster("resume 1");
    wait_until_green();
}

TEST_F(ClusterFailure, AForgottenPointInTimeIsOpenedAgain) {
    for (int i = 10; i < 40; ++i) write("c" + std::to_string(i));
    const ReaderPtr reader = now();
    Leg leg = words_leg(scope_of("c"), {"common"}, 10);
    std::set<std::string> seen;
    for (int page = 0; page < 3; ++page) {
        const LegResult result = must(reader->search_leg(leg));
        ASSERT_EQ(result.hits.size(), 10U);
        for (const LegHit& hit : result.hits) seen.insert(hit.chunk_id);
        leg.after = result.hits.back();
        EXPECT_NE(ask(0, "DELETE", "/_search/point_in_time/_all"), "");
    }
    EXPECT_EQ(seen.size(), 30U);
}

}  // namespace
}  // namespace braid::testing
