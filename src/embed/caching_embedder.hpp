#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/core/lru_cache.hpp"
#include "braid/embedder.hpp"
#include "braid/result.hpp"

namespace braid::embed {

struct EmbeddingBytes {
    std::size_t operator()(const Embedding& embedding) const noexcept {
        return embedding.vector.size() * sizeof(float);
    }
};

/// Several embedders may share a cache: the key holds the whole fingerprint.
class EmbeddingCache final : public core::LruCache<Embedding, EmbeddingBytes> {
public:
    using LruCache::LruCache;
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

    /// Embeds one text, and says whether it was remembered. Passages never are.
    Result<CachedEmbedding> embed_cached(std::string_view text, TextRole role,
                                         const CallLimits& limits) const;

    /// A query's vector if it is remembered; neither asks the embedder nor counts as a miss.
    std::optional<Embedding> remembered(std::string_view query, const CallLimits& limits) const;

    EmbeddingCache::Stats stats() const;

private:
    std::string key_of(std::string_view text, const std::string& realm) const;

    std::shared_ptr<const Embedder> inner_;
    std::shared_ptr<EmbeddingCache> cache_;
    std::string key_prefix_;  // the fingerprint, encoded unambiguously
};

}  // namespace braid::embed
