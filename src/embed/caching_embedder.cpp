#include "braid/embed/caching_embedder.hpp"

#include <iterator>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "braid/core/sha256.hpp"

namespace braid::embed {
namespace {

// Nodes of the list and the map, roughly.
constexpr std::size_t kEntryOverhead = 192;

struct Entry {
    std::string key;
    Embedding embedding;

    std::size_t bytes() const noexcept {
        return key.size() + embedding.vector.size() * sizeof(float) + kEntryOverhead;
    }
};

/// Equal exactly if the fingerprints are.
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

struct EmbeddingCache::State {
    explicit State(std::size_t bytes) : max_bytes(bytes) {}

    const std::size_t max_bytes;
    mutable std::mutex mutex;
    std::list<Entry> entries;  // most recently used first
    std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key;
    Stats stats;

    void drop(std::list<Entry>::iterator entry) {
        stats.bytes -= entry->bytes();
        by_key.erase(entry->key);
        entries.erase(entry);
    }
};

EmbeddingCache::EmbeddingCache(std::size_t max_bytes)
    : state_(std::make_unique<State>(max_bytes)) {}
EmbeddingCache::~EmbeddingCache() = default;

std::optional<Embedding> EmbeddingCache::find(std::string_view key) {
    const std::scoped_lock lock(state_->mutex);
    const auto found = state_->by_key.find(key);
    if (found == state_->by_key.end()) {
        ++state_->stats.misses;
        return std::nullopt;
    }
    ++state_->stats.hits;
    state_->entries.splice(state_->entries.begin(), state_->entries, found->second);
    return found->second->embedding;
}

void EmbeddingCache::insert(std::string_view key, const Embedding& embedding) {
    Entry entry{.key = std::string(key), .embedding = embedding};
    const std::size_t bytes = entry.bytes();
    if (bytes > state_->max_bytes) return;
    const std::scoped_lock lock(state_->mutex);
    if (const auto old = state_->by_key.find(key); old != state_->by_key.end()) {
        state_->drop(old->second);
    }
    while (state_->stats.bytes > state_->max_bytes - bytes) {
        state_->drop(std::prev(state_->entries.end()));
    }
    state_->entries.push_front(std::move(entry));
    state_->by_key.emplace(state_->entries.front().key, state_->entries.begin());
    state_->stats.bytes += bytes;
}

EmbeddingCache::Stats EmbeddingCache::stats() const {
    const std::scoped_lock lock(state_->mutex);
    Stats stats = state_->stats;
    stats.entries = state_->entries.size();
    return stats;
}

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

EmbeddingCache::Stats CachingEmbedder::stats() const {
    return cache_->stats();
}

std::string CachingEmbedder::key_of(std::string_view text, TextRole role) const {
    std::string key = key_prefix_;
    key += role == TextRole::Query ? 'q' : 'p';
    key += text;
    return key;
}

Result<CachedEmbedding> CachingEmbedder::embed_cached(std::string_view text, TextRole role,
                                                      const CallLimits& limits) const {
    const bool remember = role == TextRole::Query;
    const std::string key = remember ? key_of(text, role) : std::string();
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
        if (auto found = cache_->find(key_of(texts[i], role))) {
            embeddings[i] = *std::move(found);
        } else {
            missing.push_back(texts[i]);
            places.push_back(i);
        }
    }
    if (missing.empty()) return embeddings;
    BRAID_TRY(auto computed, inner_->embed(missing, role, limits));
    for (std::size_t m = 0; m < missing.size(); ++m) {
        cache_->insert(key_of(missing[m], role), computed[m]);
        embeddings[places[m]] = std::move(computed[m]);
    }
    return embeddings;
}

}  // namespace braid::embed
