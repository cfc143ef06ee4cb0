#include "braid/llm/text_cache.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace braid::llm {
namespace {

TEST(TextCache, FindsWhatWasInserted) {
    TextCache cache(10'000);
    EXPECT_EQ(cache.find("a"), std::nullopt);
    EXPECT_EQ(cache.insert_once("a", {"one", "two"}), (Texts{"one", "two"}));
    EXPECT_EQ(cache.find("a"), (Texts{"one", "two"}));
    EXPECT_EQ(cache.find("b"), std::nullopt);
    EXPECT_EQ(cache.stats().hits, 1U);
    EXPECT_EQ(cache.stats().misses, 2U);
    EXPECT_EQ(cache.stats().entries, 1U);
}

TEST(TextCache, KeepsTheFirstOfTwoAnswers) {
    TextCache cache(10'000);
    cache.insert_once("a", {"first"});
    EXPECT_EQ(cache.insert_once("a", {"second"}), Texts{"first"});
    EXPECT_EQ(cache.find("a"), Texts{"first"});
}

TEST(TextCache, ForgetsTheLeastRecentlyUsedFirst) {
    TextCache cache(1000);
    const std::string text(100, 'x');  // an entry has some 320 bytes: three fit
    for (const char* const key : {"a", "b", "c"}) cache.insert_once(key, {text});
    ASSERT_EQ(cache.stats().entries, 3U);
    EXPECT_TRUE(cache.find("a"));
    cache.insert_once("d", {text});
    EXPECT_TRUE(cache.find("a"));
    EXPECT_FALSE(cache.find("b"));
    EXPECT_TRUE(cache.find("c"));
    EXPECT_TRUE(cache.find("d"));
}

TEST(TextCache, NeverGrowsPastItsBound) {
    TextCache cache(5000);
    for (std::size_t i = 0; i < 500; ++i) {
        cache.insert_once(std::to_string(i), {std::string(i * 13 % 900, 'x')});
        ASSERT_LE(cache.stats().bytes, 5000U);
    }
    EXPECT_EQ(cache.insert_once("huge", {std::string(6000, 'x')}).front().size(), 6000U);
    EXPECT_FALSE(cache.find("huge"));
    EXPECT_GT(cache.stats().entries, 0U);
    TextCache none(0);
    EXPECT_EQ(none.insert_once("a", {"one"}), Texts{"one"});
    EXPECT_FALSE(none.find("a"));
}

TEST(TextCache, ServesManyThreadsAtOnce) {
    TextCache cache(4000);
    std::atomic<int> wrong = 0;
    const auto use = [&](int thread) {
        for (int i = 0; i < 2000; ++i) {
            const std::string key = std::to_string((i * 7 + thread) % 40);
            if (const auto found = cache.find(key)) {
                if (*found != Texts{key}) ++wrong;
            } else if (cache.insert_once(key, {key}) != Texts{key}) {
                ++wrong;
            }
        }
    };
    {
        std::vector<std::jthread> threads;
        threads.reserve(6);
        for (int t = 0; t < 6; ++t) threads.emplace_back(use, t);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(cache.stats().bytes, 4000U);
}

}  // namespace
}  // namespace braid::llm
