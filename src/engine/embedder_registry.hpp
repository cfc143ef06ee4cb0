#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/core/errand.hpp"
#include "braid/database.hpp"
#include "braid/engine/language_guess.hpp"
#include "braid/retrieval/retriever.hpp"

namespace braid::embed {
class CachingEmbedder;
class EmbeddingCache;
}  // namespace braid::embed

namespace braid::engine {

/// Names of embedders that only know English.
const std::vector<std::string>& english_embedders();

/// The embedders in use: each is created once, shared, and checked against the fingerprint of every
/// collection it serves. Safe for concurrent use.
class EmbedderRegistry {
public:
    explicit EmbedderRegistry(EmbedderFactory factory);
    ~EmbedderRegistry();
    EmbedderRegistry(const EmbedderRegistry&) = delete;
    EmbedderRegistry& operator=(const EmbedderRegistry&) = delete;
    EmbedderRegistry(EmbedderRegistry&&) = delete;
    EmbedderRegistry& operator=(EmbedderRegistry&&) = delete;

    /// Completes a schema whose embedder makes the vectors: dimension and fingerprint. Does nothing
    /// for "none" and "external".
    Result<> complete(Schema& schema);

    Result<std::optional<TokenCounter>> token_counter(const Schema& schema,
                                                      const CallLimits& limits);

    /// `role` is Passage for a text that stands in for an answer (HyDE). DeadlineExceeded if the
    /// embedder is not loaded in time; it continues to load, and a later call finds it ready.
    Result<retrieval::QueryVector> embed_query(const Schema& schema, std::string_view text,
                                               TextRole role, const CallLimits& limits);
    /// What embed_query would return if it can be had without asking the embedder; takes no time.
    std::optional<retrieval::QueryVector> remembered(const Schema& schema, std::string_view text,
                                                     const CallLimits& limits);
    /// Gives every chunk without a vector one; returns warnings.
    Result<std::vector<std::string>> embed_chunks(const Schema& schema, std::vector<Chunk>& chunks,
                                                  const CallLimits& limits);

private:
    using EmbedderPtr = std::shared_ptr<const embed::CachingEmbedder>;
    using Loading = core::Errand<EmbedderPtr>;

    /// None unless it is loaded.
    EmbedderPtr loaded(const std::string& name);
    Result<EmbedderPtr> find(const VectorSpec& spec, const CallLimits& limits);
    std::shared_ptr<const Loading> load(const VectorSpec& spec);
    /// Conflict if the collection's vectors were made by another model: names `braid reembed`.
    /// Remarks about a different runtime go to `warnings`.
    Result<EmbedderPtr> find_checked(const Schema& schema, std::vector<std::string>& warnings,
                                     const CallLimits& limits);
    /// Empty while the runtime is the one that made the vectors.
    Result<std::optional<std::string>> check_runtime(const Schema& schema,
                                                     const embed::CachingEmbedder& embedder,
                                                     const CallLimits& limits);
    /// Reported once: that most of the text is in a language that a built-in model does not
    /// understand.
    std::optional<std::string> check_language(const Schema& schema,
                                              const std::vector<std::string>& texts);

    EmbedderFactory factory_;
    std::shared_ptr<embed::EmbeddingCache> cache_;
    std::mutex mutex_;
    std::map<std::string, EmbedderPtr> embedders_;
    std::map<std::string, std::shared_ptr<const Loading>> loading_;
    /// By runtime, CPU level and embedder: the result of comparing the canaries.
    std::map<std::string, std::optional<std::string>> checked_runtimes_;
    LanguageGuess language_;
    bool language_said_ = false;
    core::Crew crew_;  // loads embedders
};

/// What an embedder reads of a chunk: title, section and content, each on its own line.
std::string passage_text(const Chunk& chunk);

}  // namespace braid::engine
