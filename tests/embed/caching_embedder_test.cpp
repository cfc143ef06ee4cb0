#include "braid/embed/caching_embedder.hpp"

#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "embed/fake_embedder.hpp"

namespace braid::embed {
namespace {

/// Counts the texts it is really asked for, and fails on demand.
class CountingEmbedder final : public Embedder {
public:
    explicit CountingEmbedder(std::string model = "fake") : inner_(8, std::move(model)) {}

    const EmbedderFingerprint& fingerprint() const override { return inner_.fingerprint(); }
    std::size_t count_tokens(std::string_view text) const override {
        return inner_.count_tokens(text);
    }
    Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts, TextRole role,
                                         const CallLimits& limits) const override {
        embedded += texts.size();
        if (failing) return fail(ErrorCode::Unavailable, "down");
        return inner_.embed(texts, role, limits);
    }

    mutable std::atomic<std::size_t> embedded = 0;
    std::atomic<bool> failing = false;

private:
    FakeEmbedder inner_;
};

TEST(CachingEmbedder, RemembersQueriesAndSaysSo) {
    const auto inner = std::make_shared<CountingEmbedder>();
    const CachingEmbedder embedder(inner);
    const auto first = embedder.embed_cached("red fox", TextRole::Query, {});
    const auto second = embedder.embed_cached("red fox", TextRole::Query, {});
    ASSERT_TRUE(first && second);
    EXPECT_FALSE(first->hit);
    EXPECT_TRUE(second->hit);
    EXPECT_EQ(first->embedding.vector, second->embedding.vector);
    EXPECT_EQ(first->embedding.tokens, second->embedding.tokens);
    EXPECT_EQ(inner->embedded, 1U);
    EXPECT_EQ(embedder.stats().hits, 1U);
    EXPECT_EQ(embedder.stats().misses, 1U);
}

TEST(CachingEmbedder, LetsPassagesThrough) {
    const auto inner = std::make_shared<CountingEmbedder>();
    const CachingEmbedder embedder(inner);
    ASSERT_TRUE(embedder.embed_cached("fox", TextRole::Query, {}));
    const auto passage = embedder.embed_cached("fox", TextRole::Passage, {});
    ASSERT_TRUE(passage);
    EXPECT_FALSE(passage->hit);
    EXPECT_FALSE(embedder.embed_cached("fox", TextRole::Passage, {})->hit);
    EXPECT_EQ(embedder.stats().entries, 1U);
}

TEST(CachingEmbedder, AsksOnlyForTheTextsItLacks) {
    const auto inner = std::make_shared<CountingEmbedder>();
    const CachingEmbedder embedder(inner);
    const std::vector<std::string_view> some{"a", "c"};
    const std::vector<std::string_view> all{"a", "b", "c", "d"};
    ASSERT_TRUE(embedder.embed(some, TextRole::Query, {}));
    const auto answer = embedder.embed(all, TextRole::Query, {});
    ASSERT_TRUE(answer);
    EXPECT_EQ(inner->embedded, 4U);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ((*answer)[i].vector, FakeEmbedder(8).vector_of(all[i]));
    }
}

TEST(CachingEmbedder, DoesNotMixUpEmbeddersThatShareACache) {
    const auto cache = std::make_shared<EmbeddingCache>(1U << 20U);
    const CachingEmbedder one(std::make_shared<CountingEmbedder>("one"), cache);
    const CachingEmbedder two(std::make_shared<CountingEmbedder>("two"), cache);
    const CachingEmbedder same(std::make_shared<CountingEmbedder>("one"), cache);
    ASSERT_TRUE(one.embed_cached("fox", TextRole::Query, {}));
    EXPECT_FALSE(two.embed_cached("fox", TextRole::Query, {})->hit);
    EXPECT_TRUE(same.embed_cached("fox", TextRole::Query, {})->hit);
}

TEST(CachingEmbedder, RemembersNoFailure) {
    const auto inner = std::make_shared<CountingEmbedder>();
    const CachingEmbedder embedder(inner);
    inner->failing = true;
    EXPECT_FALSE(embedder.embed_cached("fox", TextRole::Query, {}));
    inner->failing = false;
    const auto answer = embedder.embed_cached("fox", TextRole::Query, {});
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->hit);
}

TEST(CachingEmbedder, KeepsRealmsApart) {
    const CachingEmbedder embedder(std::make_shared<FakeEmbedder>());
    CallLimits ann;
    ann.realm = "ann";
    CallLimits bob;
    bob.realm = "bob";
    ASSERT_TRUE(embedder.embed_cached("fox", TextRole::Query, ann));
    EXPECT_FALSE(embedder.embed_cached("fox", TextRole::Query, bob)->hit);
    EXPECT_FALSE(embedder.embed_cached("fox", TextRole::Query, {})->hit);
    EXPECT_TRUE(embedder.embed_cached("fox", TextRole::Query, ann)->hit);
}

TEST(EmbeddingCache, ForgetsTheLeastRecentlyUsedFirst) {
    const Embedding embedding{.vector = std::vector<float>(100)};
    EmbeddingCache cache(2000);  // room for three entries
    for (const char* key : {"a", "b", "c"}) cache.insert(key, embedding);
    ASSERT_EQ(cache.stats().entries, 3U);
    EXPECT_TRUE(cache.find("a"));
    cache.insert("d", embedding);
    EXPECT_TRUE(cache.find("a"));
    EXPECT_FALSE(cache.find("b"));
    EXPECT_TRUE(cache.find("d"));
    EXPECT_LE(cache.stats().bytes, 2000U);
}

TEST(EmbeddingCache, DoesNotKeepWhatIsLargerThanItself) {
    EmbeddingCache cache(1000);
    cache.insert("small", {.vector = {1.0F}});
    cache.insert("large", {.vector = std::vector<float>(1000)});
    EXPECT_FALSE(cache.find("large"));
    EXPECT_TRUE(cache.find("small"));
    EmbeddingCache none(0);
    none.insert("small", {.vector = {1.0F}});
    EXPECT_EQ(none.stats().entries, 0U);
}

TEST(EmbeddingCache, ReplacesAnEntryOfTheSameKey) {
    EmbeddingCache cache(10'000);
    cache.insert("a", {.vector = {1.0F}});
    const std::size_t bytes = cache.stats().bytes;
    cache.insert("a", {.vector = {2.0F}});
    EXPECT_EQ(cache.stats().bytes, bytes);
    EXPECT_EQ(cache.find("a").value_or(Embedding{}).vector, std::vector<float>{2.0F});
}

TEST(CachingEmbedder, GivesRightAnswersToManyThreads) {
    const auto inner = std::make_shared<CountingEmbedder>();
    const CachingEmbedder embedder(inner, 4000);  // small: entries come and go
    const FakeEmbedder reference(8);
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        threads.reserve(8);
        for (unsigned t = 0; t < 8; ++t) {
            threads.emplace_back([&, t] {
                std::mt19937 random(t);
                for (int i = 0; i < 2000; ++i) {
                    const std::string text = "query " + std::to_string(random() % 40);
                    const auto answer = embedder.embed_cached(text, TextRole::Query, {});
                    if (!answer || answer->embedding.vector != reference.vector_of(text)) ++wrong;
                }
            });
        }
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_GT(embedder.stats().hits, 0U);
    EXPECT_LE(embedder.stats().bytes, 4000U);
}

}  // namespace
}  // namespace braid::embed
