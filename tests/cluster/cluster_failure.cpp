#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "backend/helpers.hpp"
#include "cluster/cluster_control.hpp"
#include "cluster/cluster_under_test.hpp"
#include "cluster/front.hpp"

// What a cluster does when its nodes fail. Each test leaves all three nodes running.
namespace braid::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

bool is_a_failure_of_nodes(const Error& error) {
    return error.code == ErrorCode::Unavailable || error.code == ErrorCode::DeadlineExceeded;
}

class ClusterFailure : public ::testing::Test {
protected:
    void SetUp() override {
        if (cluster_urls().size() < 3) GTEST_SKIP() << "needs three nodes";
        open({.shards = 3, .replicas = 1});
    }
    void open(remote::RemoteOptions options) {
        static int number = 0;
        prefix_ = "f" + std::to_string(getpid()) + "-" + std::to_string(++number) + "-";
        options.prefix = prefix_;
        backend_.reset();
        backend_ = make_cluster_backend(options);
        must(backend_->create_collection("c", words_schema()));
        wait_until_green();
    }
    std::string index() const { return prefix_ + "c"; }

    Result<WriteReport> put(std::vector<Chunk> chunks) {
        return backend_->upsert("c", "default", std::move(chunks), {});
    }
    /// Notes what was acknowledged; what was not may be there or not.
    void write(const std::string& id, const std::string& content) {
        {
            const std::scoped_lock lock(mutex_);
            tried_[id].insert(content);
        }
        const auto written = put({make_chunk(id, content)});
        const std::scoped_lock lock(mutex_);
        if (written) {
            acknowledged_[id] = content;
            tried_[id] = {content};
        } else {
            EXPECT_TRUE(is_a_failure_of_nodes(written.error())) << written.error().message;
            ++refused_;
        }
    }
    void write_some(int count) {
        for (int i = 0; i < count; ++i) write("c" + std::to_string(i), "common");
    }
    ReaderPtr now() const { return must(backend_->snapshot(std::vector<std::string>{"c"}, {})); }

    /// Every acknowledged chunk is there, as it was acknowledged last or tried since; no other.
    void expect_nothing_lost() const {
        std::map<std::string, std::string> there;
        for (const Chunk& chunk : must(now()->scan(scope_of("c"), "", 100'000, false))) {
            there[chunk.chunk_id] = chunk.content;
        }
        for (const auto& [id, content] : acknowledged_) {
            ASSERT_TRUE(there.contains(id)) << id << " was acknowledged and is gone";
            EXPECT_TRUE(there[id] == content || tried_.at(id).contains(there[id]))
                << id << " says \"" << there[id] << "\" after \"" << content << "\"";
        }
        for (const auto& [id, content] : there) {
            EXPECT_TRUE(tried_.contains(id)) << id << " was never written";
        }
    }

    /// Two threads write new chunks and change an old one again and again, one searches; after a
    /// while `fail` happens; all go on for some seconds.
    void under_load(const std::function<void()>& fail) {
        write_some(50);
        ASSERT_EQ(acknowledged_.size(), 50U);
        std::atomic<bool> done{false};
        std::atomic<int> searches{0};
        std::atomic<int> incomplete{0};
        std::vector<std::jthread> threads;
        for (const std::string name : {"left", "right"}) {
            threads.emplace_back([&, name] {
                for (int i = 0; !done; ++i) {
                    write(name + std::to_string(i), "common " + name);
                    write(name, "common " + std::to_string(i));
                }
            });
        }
        threads.emplace_back([&] {
            while (!done) {
                const auto reader = backend_->snapshot(std::vector<std::string>{"c"}, {});
                if (!reader) continue;
                const auto found = (*reader)->search_leg(words_leg(scope_of("c"), {"common"}));
                if (!found) {  // an error is an answer; a part of the hits is not
                    EXPECT_TRUE(is_a_failure_of_nodes(found.error())) << found.error().message;
                    continue;
                }
                ++searches;
                if (found->hits.size() < 50) ++incomplete;
            }
        });
        std::this_thread::sleep_for(seconds(1));
        fail();
        const std::size_t before = count_acknowledged();
        for (const auto end = Clock::now() + seconds(60);
             Clock::now() < end && count_acknowledged() < before + 20;) {
            std::this_thread::sleep_for(milliseconds(200));
        }
        std::this_thread::sleep_for(seconds(2));
        done = true;
        threads.clear();
        EXPECT_GT(searches, 0);
        EXPECT_EQ(incomplete, 0) << "of " << searches;
        EXPECT_GE(acknowledged_.size(), before + 20) << "nothing could be written after it";
        std::printf("%zu acknowledged, %d refused, %d searches\n", acknowledged_.size(),
                    refused_.load(), searches.load());
    }
    std::size_t count_acknowledged() {
        const std::scoped_lock lock(mutex_);
        return acknowledged_.size();
    }

    std::string prefix_;
    std::unique_ptr<Backend> backend_;
    std::mutex mutex_;
    std::map<std::string, std::string> acknowledged_;     // id -> what it says
    std::map<std::string, std::set<std::string>> tried_;  // since the last acknowledgement
    std::atomic<int> refused_{0};
};

TEST_F(ClusterFailure, AKilledNodeLosesNothingThatWasAcknowledged) {
    under_load([] { cluster("kill 2"); });
    expect_nothing_lost();
    cluster("node 2");
    wait_until_green();
    expect_nothing_lost();
}

TEST_F(ClusterFailure, AKilledManagerIsReplaced) {
    const std::string first = manager();
    under_load([&] { cluster("kill " + first); });
    EXPECT_NE(manager(), first);
    expect_nothing_lost();
    cluster("node " + first);
    wait_until_green();
    expect_nothing_lost();
}

TEST_F(ClusterFailure, WithTwoOfThreeDeadThereIsAnErrorAndNoWrongAnswer) {
    write_some(30);
    const ReaderPtr early = now();
    EXPECT_EQ(must(early->count(scope_of("c"))), 30U);
    // Both nodes that hold the copies of a shard: whatever is asked, a part would be missing.
    const auto doomed = holders(index(), 0);
    ASSERT_EQ(doomed.size(), 2U);
    for (const std::string& node : doomed) cluster("kill " + node);
    const auto read = [&](const auto& what) {
        const auto answer = what(*early->with(within(seconds(10))));
        ASSERT_FALSE(answer.has_value()) << "there was an answer";
        EXPECT_TRUE(is_a_failure_of_nodes(answer.error())) << answer.error().message;
        EXPECT_FALSE(answer.error().message.empty());
    };
    read([](const Reader& reader) { return reader.count(scope_of("c")); });
    read([](const Reader& reader) {
        return reader.search_leg(words_leg(scope_of("c"), {"common"}));
    });
    read([](const Reader& reader) { return reader.scan(scope_of("c"), "", 100, false); });
    read([](const Reader& reader) { return reader.facets(scope_of("c"), "chunk_id", 100); });
    const auto snapshot =
        backend_->snapshot(std::vector<std::string>{"c"}, within(milliseconds(9'000)));
    if (!snapshot) {
        EXPECT_TRUE(is_a_failure_of_nodes(snapshot.error())) << snapshot.error().message;
    }
    EXPECT_FALSE(backend_->health().refusing.empty());
    WriteOptions soon;
    soon.limits = within(seconds(10));
    const auto written = backend_->upsert("c", "default", {make_chunk("late", "common")}, soon);
    ASSERT_FALSE(written.has_value()) << "a write without a quorum was acknowledged";
    EXPECT_TRUE(is_a_failure_of_nodes(written.error())) << written.error().message;
    tried_["late"].insert("common");
    for (const std::string& node : doomed) cluster("node " + node);
    wait_until_green();
    EXPECT_GE(must(now()->count(scope_of("c"))), 30U);
    expect_nothing_lost();
    write("after", "common");
    EXPECT_TRUE(acknowledged_.contains("after"));
}

TEST_F(ClusterFailure, AllNodesKilledAtOnceComeBackWithEverything) {
    write_some(60);
    cluster("kill 0");
    cluster("kill 1");
    cluster("kill 2");
    const auto dead = backend_->snapshot(std::vector<std::string>{"c"}, within(seconds(5)));
    if (dead) {
        EXPECT_FALSE((*dead)->count(scope_of("c")).has_value());
    }
    for (const char* const node : {"node 0", "node 1", "node 2"}) cluster(node);
    wait_until_green();
    expect_nothing_lost();
}

TEST_F(ClusterFailure, ASlowNodeCostsNoMoreThanTheDeadline) {
    write_some(10);
    const ReaderPtr reader = now();
    EXPECT_EQ(must(reader->count(scope_of("c"))), 10U);
    cluster("pause 1");
    for (int i = 0; i < 9; ++i) {
        const auto start = Clock::now();
        const auto found = reader->with(within(milliseconds(1'500)))
                               ->search_leg(words_leg(scope_of("c"), {"common"}));
        EXPECT_LT(Clock::now() - start, seconds(20));
        if (found) {
            EXPECT_EQ(found->hits.size(), 10U);
        } else {
            EXPECT_TRUE(is_a_failure_of_nodes(found.error())) << found.error().message;
        }
    }
    cluster("resume 1");
    wait_until_green();
    expect_nothing_lost();
}

TEST_F(ClusterFailure, AWriteThatComesLateUndoesNothing) {
    std::atomic<bool> held{false};
    net::ReceivedRequest late;
    const Front front(cluster_urls().at(0), [&](const net::ReceivedRequest& request) {
        if (request.target.find("/_bulk") == std::string::npos || held.exchange(true)) {
            return Front::Then::Forward;
        }
        late = request;
        return Front::Then::Hold;
    });
    for (const std::string id : {"new", "old"}) {
        if (id == "old") must(put({make_chunk(id, "common before")}));
        held = false;
        const auto slow = must(remote::open_remote_backend({.urls = {front.url()},
                                                            .prefix = prefix_,
                                                            .timeout = milliseconds(700),
                                                            .max_attempts = 2}));
        // Nobody knows what became of the first request; the second is acknowledged.
        must(slow->upsert("c", "default", {make_chunk(id, "common first")}, {}));
        must(put({make_chunk(id, "common second")}));
        const auto answer = front.forward(late);
        ASSERT_TRUE(answer.has_value());
        EXPECT_NE(answer->body.find("version_conflict"), std::string::npos) << answer->body;
        const auto stored = must(now()->fetch(scope_of("c"), std::vector<std::string>{id}, false));
        EXPECT_EQ(present(stored.at(0)).content, "common second") << id;
    }
}

TEST_F(ClusterFailure, AWriteThatComesLateBringsNothingBack) {
    std::atomic<bool> held{false};
    net::ReceivedRequest late;
    const Front front(cluster_urls().at(0), [&](const net::ReceivedRequest& request) {
        if (request.target.find("/_bulk") == std::string::npos || held.exchange(true)) {
            return Front::Then::Forward;
        }
        late = request;
        return Front::Then::Hold;
    });
    const auto write_slowly = [&] {
        held = false;
        const auto slow = must(remote::open_remote_backend({.urls = {front.url()},
                                                            .prefix = prefix_,
                                                            .timeout = milliseconds(700),
                                                            .max_attempts = 2}));
        must(slow->upsert("c", "default", {make_chunk("a", "common")}, {}));
    };
    const auto arrive_late = [&](const std::string& refusal) {
        const auto answer = front.forward(late);
        ASSERT_TRUE(answer.has_value());
        EXPECT_NE(answer->body.find(refusal), std::string::npos) << answer->body;
    };
    const std::vector<std::string> id{"a"};
    // A chunk that was removed, by its id and by a search.
    for (const bool by_id : {true, false}) {
        write_slowly();
        const DeleteSelector selector =
            by_id ? DeleteSelector{.chunk_ids = id} : DeleteSelector{.document_ids = id};
        EXPECT_EQ(must(backend_->remove(scope_of("c"), selector, {})).written, 1U);
        arrive_late("version_conflict");
        EXPECT_FALSE(must(now()->fetch(scope_of("c"), id, false)).front());
        EXPECT_EQ(must(now()->count(scope_of("c"))), 0U);
        EXPECT_EQ(must(backend_->describe("c", {})).chunks, 0U);
        // Written again it is new, and removed again it is gone.
        const WriteReport report =
            must(backend_->upsert("c", "default", {make_chunk("a", "common")}, {.if_version = 0}));
        EXPECT_EQ(report.replaced, 0U);
        EXPECT_EQ(must(backend_->remove(scope_of("c"), {.chunk_ids = id}, {})).written, 1U);
        EXPECT_EQ(must(backend_->remove(scope_of("c"), {.chunk_ids = id}, {})).written, 0U);
    }
    // A collection that was dropped, and one of the same name.
    must(backend_->drop_collection("c"));
    must(backend_->create_collection("c", words_schema()));
    write_slowly();
    must(backend_->drop_collection("c"));
    arrive_late("index_not_found");
    EXPECT_TRUE(must(backend_->collections({})).empty());
    must(backend_->create_collection("c", words_schema()));
    arrive_late("index_not_found");
    EXPECT_EQ(must(now()->count(scope_of("c"))), 0U);
}

TEST_F(ClusterFailure, OfABatchThatIsHalfRefusedTheErrorSaysHowMuchWasWritten) {
    open({.shards = 3, .replicas = 0});
    const auto away = holders(index(), 1);
    ASSERT_EQ(away.size(), 1U);
    std::string other = away.front() == "0" ? "1" : "0";
    // A node dies while the batch is under way: its chunks have no copy to go to.
    std::atomic<bool> killed{false};
    const Front front(
        cluster_urls().at(static_cast<std::size_t>(other.front() - '0')),
        [&](const net::ReceivedRequest& request) {
            if (request.target.find("/_bulk") != std::string::npos && !killed.exchange(true)) {
                cluster("kill " + away.front());
            }
            return Front::Then::Forward;
        });
    const auto through = must(
        remote::open_remote_backend({.urls = {front.url()}, .prefix = prefix_, .max_attempts = 2}));
    std::vector<Chunk> batch;
    for (int i = 0; i < 60; ++i) {
        batch.push_back(make_chunk("c" + std::to_string(i), "common"));
        tried_[batch.back().chunk_id].insert("common");
    }
    const auto written = through->upsert("c", "default", batch, {});
    ASSERT_FALSE(written.has_value());
    EXPECT_TRUE(is_a_failure_of_nodes(written.error())) << written.error().message;
    const std::string& message = written.error().message;
    const std::size_t at = message.find("of 60 changes, ");
    ASSERT_NE(at, std::string::npos) << message;
    const auto made = std::stoul(message.substr(at + 15));
    EXPECT_GT(made, 0U);
    EXPECT_LT(made, 60U);
    cluster("node " + away.front());
    wait_until_green();
    const auto count = [&] {
        const std::vector<std::string> names{"c"};
        return must(must(through->snapshot(names, {}))->count(scope_of("c")));
    };
    EXPECT_EQ(count(), made);
    must(through->upsert("c", "default", batch, {}));  // the same again: the rest
    EXPECT_EQ(count(), 60U);
}

TEST_F(ClusterFailure, AForgottenPointInTimeIsOpenedAgain) {
    write_some(30);
    {
        const ReaderPtr reader = now();
        Leg leg = words_leg(scope_of("c"), {"common"}, 10);
        std::set<std::string> seen;
        for (int page = 0; page < 3; ++page) {
            const LegResult result = must(reader->search_leg(leg));
            ASSERT_EQ(result.hits.size(), 10U);
            for (const LegHit& hit : result.hits) seen.insert(hit.chunk_id);
            leg.after = result.hits.back();
            const bool open = ask_cluster("GET", "/_search/point_in_time/_all").find("pit_id") !=
                              std::string::npos;
            EXPECT_EQ(open, page > 0) << "page " << page;
            EXPECT_NE(ask_cluster("DELETE", "/_search/point_in_time/_all"), "");
        }
        EXPECT_EQ(seen.size(), 30U);
        leg.after = LegHit{"c0", 0.0};
        (void)must(reader->search_leg(leg));
        EXPECT_NE(ask_cluster("GET", "/_search/point_in_time/_all").find("pit_id"),
                  std::string::npos);
    }
    // Closed with the last reader.
    EXPECT_EQ(ask_cluster("GET", "/_search/point_in_time/_all").find("pit_id"), std::string::npos);
}

}  // namespace
}  // namespace braid::testing
