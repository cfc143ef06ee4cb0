#include "braid/engine/embedder_registry.hpp"

#include <algorithm>
#include <utility>

#include "braid/embed/caching_embedder.hpp"

namespace braid::engine {
namespace {

std::string mismatch(const EmbedderFingerprint& stored, const EmbedderFingerprint& present) {
    const auto differ = [](std::string_view what, const auto& a, const auto& b) {
        return "its " + std::string(what) + " was \"" + std::string(a) + "\", now it is \"" +
               std::string(b) + "\"";
    };
    if (stored.model != present.model) return differ("model", stored.model, present.model);
    if (stored.dimension != present.dimension) {
        return differ("dimension", std::to_string(stored.dimension),
                      std::to_string(present.dimension));
    }
    if (stored.pooling != present.pooling)
        return differ("pooling", stored.pooling, present.pooling);
    if (stored.query_prefix != present.query_prefix) {
        return differ("query prefix", stored.query_prefix, present.query_prefix);
    }
    if (stored.passage_prefix != present.passage_prefix) {
        return differ("passage prefix", stored.passage_prefix, present.passage_prefix);
    }
    if (stored.token_limit != present.token_limit) {
        return differ("token limit", std::to_string(stored.token_limit),
                      std::to_string(present.token_limit));
    }
    return differ("model file", stored.model_hash.substr(0, 12), present.model_hash.substr(0, 12));
}

}  // namespace

std::string passage_text(const Chunk& chunk) {
    std::string text;
    if (chunk.title) text += *chunk.title + "\n";
    if (chunk.section_title) text += *chunk.section_title + "\n";
    return text + chunk.content;
}

EmbedderRegistry::EmbedderRegistry(const Backend& backend, EmbedderFactory factory)
    : backend_(backend),
      factory_(std::move(factory)),
      cache_(std::make_shared<embed::EmbeddingCache>(embed::CachingEmbedder::kDefaultBytes)) {}

EmbedderRegistry::~EmbedderRegistry() = default;

Result<EmbedderRegistry::EmbedderPtr> EmbedderRegistry::find(const VectorSpec& spec) {
    const std::scoped_lock lock(mutex_);
    const auto found = embedders_.find(spec.embedder);
    if (found != embedders_.end()) return found->second;
    BRAID_TRY(auto embedder, factory_(spec));
    auto caching = std::make_shared<const embed::CachingEmbedder>(std::move(embedder), cache_);
    embedders_.emplace(spec.embedder, caching);
    return EmbedderPtr(std::move(caching));
}

Result<EmbedderRegistry::EmbedderPtr> EmbedderRegistry::find_checked(const Schema& schema) {
    BRAID_TRY(EmbedderPtr embedder, find(schema.vectors));
    const auto& stored = schema.vectors.fingerprint;
    if (stored && !stored->hard_equal(embedder->fingerprint())) {
        return fail(ErrorCode::Conflict,
                    "the embedder \"" + schema.vectors.embedder +
                        "\" is not the one that made the collection's vectors: " +
                        mismatch(*stored, embedder->fingerprint()) +
                        "; run `braid reembed` to make them anew");
    }
    return embedder;
}

Result<> EmbedderRegistry::complete(Schema& schema) {
    VectorSpec& vectors = schema.vectors;
    if (!vectors.has_vectors() || vectors.embedder == "external") return {};
    BRAID_TRY(const EmbedderPtr embedder, find(vectors));
    const EmbedderFingerprint& fingerprint = embedder->fingerprint();
    if (vectors.dimension != 0 && vectors.dimension != fingerprint.dimension) {
        return fail(ErrorCode::InvalidArgument, "the embedder \"" + vectors.embedder + "\" gives " +
                                                    std::to_string(fingerprint.dimension) +
                                                    " dimensions, not " +
                                                    std::to_string(vectors.dimension));
    }
    vectors.dimension = fingerprint.dimension;
    vectors.fingerprint = fingerprint;
    return {};
}

Result<retrieval::QueryVector> EmbedderRegistry::embed_query(const Schema& schema,
                                                             std::string_view text,
                                                             const CallLimits& limits) {
    BRAID_TRY(const EmbedderPtr embedder, find_checked(schema));
    BRAID_TRY(embed::CachedEmbedding cached, embedder->embed_cached(text, TextRole::Query, limits));
    retrieval::QueryVector query{std::move(cached.embedding.vector), cached.hit, {}};
    if (cached.embedding.truncated) {
        query.warnings.push_back("the query has " + std::to_string(cached.embedding.tokens) +
                                 " tokens, the embedder reads the first " +
                                 std::to_string(embedder->fingerprint().token_limit));
    }
    return query;
}

Result<std::vector<std::string>> EmbedderRegistry::embed_chunks(const Schema& schema,
                                                                std::vector<Chunk>& chunks,
                                                                const CallLimits& limits) {
    std::vector<std::string> warnings;
    if (!schema.vectors.has_vectors() || schema.vectors.embedder == "external") return warnings;
    std::vector<Chunk*> waiting;
    for (Chunk& chunk : chunks) {
        if (chunk.vector.empty()) waiting.push_back(&chunk);
    }
    if (waiting.empty()) return warnings;
    BRAID_TRY(const EmbedderPtr embedder, find_checked(schema));
    std::vector<std::string> texts;
    for (const Chunk* chunk : waiting) texts.push_back(passage_text(*chunk));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    BRAID_TRY(auto embeddings, embedder->embed(views, TextRole::Passage, limits));
    std::size_t cut = 0;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        if (embeddings[i].truncated && ++cut == 1) {
            warnings.push_back("chunk \"" + waiting[i]->chunk_id + "\" has " +
                               std::to_string(embeddings[i].tokens) +
                               " tokens, the embedder reads the first " +
                               std::to_string(embedder->fingerprint().token_limit));
        }
        waiting[i]->vector = std::move(embeddings[i].vector);
    }
    if (cut > 1) {
        warnings.front() += " (and " + std::to_string(cut - 1) + " more such chunks)";
    }
    return warnings;
}

}  // namespace braid::engine
