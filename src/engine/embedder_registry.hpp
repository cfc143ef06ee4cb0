#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "braid/backend.hpp"
#include "braid/database.hpp"
#include "braid/retrieval/retriever.hpp"

namespace braid::embed {
class CachingEmbedder;
class EmbeddingCache;
}  // namespace braid::embed

namespace braid::engine {

/// The embedders in use: each is made once, shared, and checked against the fingerprint of every
/// collection it serves. Safe for concurrent use.
class EmbedderRegistry {
public:
    EmbedderRegistry(const Backend& backend, EmbedderFactory factory);
    ~EmbedderRegistry();
    EmbedderRegistry(const EmbedderRegistry&) = delete;
    EmbedderRegistry& operator=(const EmbedderRegistry&) = delete;

    /// Completes a schema whose embedder makes the vectors: dimension and fingerprint. Does nothing
    /// for "none" and "external".
    Result<> complete(Schema& schema);

    Result<retrieval::QueryVector> embed_query(const Schema& schema, std::string_view text,
                                               const CallLimits& limits);
    /// Gives every chunk without a vector one; returns what should be said about it.
    Result<std::vector<std::string>> embed_chunks(const Schema& schema, std::vector<Chunk>& chunks,
                                                  const CallLimits& limits);

private:
    using EmbedderPtr = std::shared_ptr<const embed::CachingEmbedder>;

    Result<EmbedderPtr> find(const VectorSpec& spec);
    /// Conflict if the collection's vectors were made by another model: names `braid reembed`.
    Result<EmbedderPtr> find_checked(const Schema& schema);

    const Backend& backend_;
    EmbedderFactory factory_;
    std::shared_ptr<embed::EmbeddingCache> cache_;
    std::mutex mutex_;
    std::map<std::string, EmbedderPtr> embedders_;
};

/// What an embedder reads of a chunk: title, section and content, each on its line.
std::string passage_text(const Chunk& chunk);

}  // namespace braid::engine
