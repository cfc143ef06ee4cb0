#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "braid/backend.hpp"
#include "braid/core/vocabulary.hpp"
#include "braid/database.hpp"
#include "braid/engine/embedder_registry.hpp"
#include "braid/engine/prober.hpp"
#include "braid/retrieval/retriever.hpp"

namespace braid {

/// What a database consists of: a backend, embedders, retrieval over both, and a prober.
struct Database::Impl {
    Impl(std::unique_ptr<Backend> opened, std::vector<std::string> notes,
         const OpenOptions& options);

    /// A snapshot of one collection.
    Result<ReaderPtr> snapshot(const std::string& collection, const CallLimits& limits) const {
        return backend->snapshot(std::span(&collection, 1), limits);
    }

    Result<Schema> schema(const std::string& collection, const CallLimits& limits) const {
        BRAID_TRY(const auto found, snapshot(collection, limits));
        return found->schema(collection);
    }

    /// Gives chunks the vectors stored with their ids if these were made from the same text.
    Result<> keep_vectors(const std::string& collection, const std::string& namespace_,
                          std::span<Chunk* const> chunks, const WriteOptions& options) const;

    Result<std::optional<LegProbes>> probe(const ReadScope& scope, const CallLimits& limits) const;
    /// Nobody waits for it: if it fails, `stats` keeps its previous result. Only with a built-in
    /// embedder: others may cost money.
    void probe_if_due(const engine::Prober::Place& place, const std::stop_token& stop) const;

    void written(const std::string& collection, const std::string& namespace_) {
        if (prober) prober->written(collection, namespace_);
    }

    OpenReport report;
    core::VocabularyPtr vocabulary;
    std::unique_ptr<Backend> backend;
    std::shared_ptr<engine::EmbedderRegistry> registry;
    retrieval::Retriever retriever;
    std::optional<engine::Prober> prober;  // last: its thread uses all of the above
};

}  // namespace braid
