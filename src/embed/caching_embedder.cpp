#include "braid/embed/caching_embedder.hpp"

#include <utility>

#include "braid/core/sha256.hpp"

namespace braid::embed {
namespace {

/// Two are equal exactly if the fingerprints are.
std::string digest_of(const EmbedderFingerprint& fingerprint) {
    core::Sha256 hash;
    const auto add = [&](std::string_view field) {
        const std::string size = std::to_string(field.size()) + ":";
        hash.update(std::as_bytes(std::span(size)));
        hash.update(std::as_bytes(std::span(field)));
    };
    add(fingerprint.model);
    add(fingerprint.model_hash);
    add(std::to_string(fingerprint.dimension));
    add(fingerprint.pooling);
    add(fingerprint.query_prefix);
    add(fingerprint.passage_prefix);
    add(std::to_string(fingerprint.token_limit));
    add(fingerprint.runtime);
    add(fingerprint.cpu_level);
    return core::to_hex(hash.finish());
}

}  // namespace

CachingEmbedder::CachingEmbedder(std::shared_ptr<const Embedder> inner, std::size_t max_bytes)
    : CachingEmbedder(std::move(inner), std::make_shared<EmbeddingCache>(max_bytes)) {}

CachingEmbedder::CachingEmbedder(std::shared_ptr<const Embedder> inner,
                                 std::shared_ptr<EmbeddingCache> cache)
    : inner_(std::move(inner)),
      cache_(std::move(cache)),
      key_prefix_(digest_of(inner_->fingerprint())) {}

const EmbedderFingerprint& CachingEmbedder::fingerprint() const {
    return inner_->fingerprint();
}

std::size_t CachingEmbedder::count_tokens(std::string_view text) const {
    return inner_->count_tokens(text);
}

std::optional<Embedding> CachingEmbedder::remembered(std::string_view query,
                                                     const CallLimits& limits) const {
    return cache_->find_present(key_of(query, limits.realm));
}

EmbeddingCache::Stats CachingEmbedder::stats() const {
    return cache_->stats();
}

std::string CachingEmbedder::key_of(std::string_view text, const std::string& realm) const {
    return key_prefix_ + std::to_string(realm.size()) + ":" + realm + std::string(text);
}

Result<CachedEmbedding> CachingEmbedder::embed_cached(std::string_view text, TextRole role,
                                                      const CallLimits& limits) const {
    const bool remember = role == TextRole::Query;
    const std::string key = remember ? key_of(text, limits.realm) : std::string();
    if (remember) {
        if (auto found = cache_->find(key)) {
            return CachedEmbedding{.embedding = *std::move(found), .hit = true};
        }
    }
    BRAID_TRY(auto embeddings, inner_->embed(std::span(&text, 1), role, limits));
    if (remember) cache_->insert(key, embeddings.front());
    return CachedEmbedding{.embedding = std::move(embeddings.front()), .hit = false};
}

Result<std::vector<Embedding>> CachingEmbedder::embed(std::span<const std::string_view> texts,
                                                      TextRole role,
                                                      const CallLimits& limits) const {
    if (role != TextRole::Query) return inner_->embed(texts, role, limits);
    std::vector<Embedding> embeddings(texts.size());
    std::vector<std::string_view> missing;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (auto found = cache_->find(key_of(texts[i], limits.realm))) {
            embeddings[i] = *std::move(found);
        } else {
            missing.push_back(texts[i]);
            places.push_back(i);
        }
    }
    if (missing.empty()) return embeddings;
    BRAID_TRY(auto computed, inner_->embed(missing, role, limits));
    for (std::size_t m = 0; m < missing.size(); ++m) {
        cache_->insert(key_of(missing[m], limits.realm), computed[m]);
        embeddings[places[m]] = std::move(computed[m]);
    }
    return embeddings;
}

}  // namespace braid::embed
