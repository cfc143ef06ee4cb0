#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/embedder.hpp"
#include "braid/result.hpp"

namespace braid::embed {

/// Least-recently-used store of embeddings, bounded in bytes. Several embedders may share one: the
/// key holds the whole fingerprint. Safe for concurrent use.
class EmbeddingCache {
public:
    struct Stats {
        std::uint64_t hits = 0;
        std::uint64_t misses = 0;
        std::size_t entries = 0;
        std::size_t bytes = 0;
    };

    explicit EmbeddingCache(std::size_t max_bytes);
    ~EmbeddingCache();
    EmbeddingCache(const EmbeddingCache&) = delete;
    EmbeddingCache& operator=(const EmbeddingCache&) = delete;
    EmbeddingCache(EmbeddingCache&&) = delete;
    EmbeddingCache& operator=(EmbeddingCache&&) = delete;

    std::optional<Embedding> find(std::string_view key);
    /// An entry larger than the cache is not kept.
    void insert(std::string_view key, const Embedding& embedding);
    Stats stats() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

struct CachedEmbedding {
    Embedding embedding;
    bool hit = false;
};

/// Remembers query embeddings; passages, which rarely repeat, go straight through. Two threads that
/// miss the same text at once both compute it.
class CachingEmbedder final : public Embedder {
public:
    static constexpr std::size_t kDefaultBytes = 16U << 20U;

    explicit CachingEmbedder(std::shared_ptr<const Embedder> inner,
                             std::size_t max_bytes = kDefaultBytes);
    CachingEmbedder(std::shared_ptr<const Embedder> inner, std::shared_ptr<EmbeddingCache> cache);

    const EmbedderFingerprint& fingerprint() const override;
    Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts, TextRole role,
                                         const CallLimits& limits) const override;
    std::size_t count_tokens(std::string_view text) const override;

    /// One text, and whether it was remembered. Never a hit for a passage.
    Result<CachedEmbedding> embed_cached(std::string_view text, TextRole role,
                                         const CallLimits& limits) const;

    EmbeddingCache::Stats stats() const;

private:
    std::string key_of(std::string_view text, TextRole role) const;

    std::shared_ptr<const Embedder> inner_;
    std::shared_ptr<EmbeddingCache> cache_;
    std::string key_prefix_;  // fingerprint, unambiguous
};

}  // namespace braid::embed
