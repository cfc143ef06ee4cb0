#include "braid/server/rpc/idempotency.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "core/present.hpp"

namespace braid::server {
namespace {

TEST(IdempotencyStore, KnowsWhatIsAtWork) {
    IdempotencyStore store(10'000, std::chrono::seconds(10));
    using State = IdempotencyStore::State;
    const auto now = IdempotencyStore::Clock::now();
    EXPECT_EQ(store.begin("a", "1", now).state, State::New);
    EXPECT_EQ(store.begin("a", "1", now).state, State::Running);
    EXPECT_EQ(store.begin("a", "2", now).state, State::Differs);
    store.abandon("a");
    EXPECT_EQ(store.begin("a", "2", now).state, State::New);
    net::OutgoingResponse response;
    response.body = "done";
    store.finish("a", response);
    const auto done = store.begin("a", "2", now);
    EXPECT_EQ(done.state, State::Done);
    EXPECT_EQ(present(done.response).body, "done");
    EXPECT_EQ(store.begin("a", "3", now + std::chrono::seconds(11)).state, State::New);
}

TEST(IdempotencyStore, IsBounded) {
    IdempotencyStore store(100'000);
    net::OutgoingResponse response;
    response.body = std::string(1000, 'x');
    for (int i = 0; i < 1000; ++i) {
        const std::string key = "key " + std::to_string(i);
        store.begin(key, "1");
        store.finish(key, response);
        EXPECT_LE(store.bytes(), 100'000U);
    }
    EXPECT_GT(store.size(), 50U);
    EXPECT_EQ(store.begin("key 999", "1").state, IdempotencyStore::State::Done);
    EXPECT_EQ(store.begin("key 0", "1").state, IdempotencyStore::State::New);
    response.body = std::string(200'000, 'x');
    store.begin("huge", "1");
    store.finish("huge", response);
    EXPECT_EQ(store.begin("huge", "1").state, IdempotencyStore::State::New);
}

}  // namespace
}  // namespace braid::server
