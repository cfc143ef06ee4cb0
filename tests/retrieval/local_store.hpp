#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "braid/forwarding.hpp"
#include "braid/retrieval/query_embedder.hpp"

namespace braid::retrieval {

/// A real backend in memory, with faults on demand: what a hook returns fails the call instead of
/// the backend's own answer.
class LocalStore final : public ForwardingBackend {
public:
    LocalStore();

    std::function<std::optional<Error>(const Leg&)> leg_fault;
    std::function<void(const Leg&, LegResult&)> leg_garbage;  // spoils what the leg found
    std::function<std::optional<Error>(const Leg&)> score_fault;
    std::function<std::optional<Error>(const std::string& collection)> fetch_fault;
    std::function<std::optional<Error>(const std::string& collection)> pin_fault;
    mutable std::vector<Leg> searched;  // only if `remember` is set
    bool remember = false;

    /// Adds chunks to a collection, which it creates if need be. Vectors come from fake_embed of
    /// the content where a chunk has none.
    void add(const std::string& collection, std::vector<Chunk> chunks,
             const std::string& embedder = "fake");

    Result<ReaderPtr> snapshot(std::span<const std::string> names,
                               const CallLimits& limits) const override;

private:
    class FaultyReader;

    mutable std::mutex mutex_;  // of `searched`
};

/// The embedder of LocalStore's collections: texts that share words get similar vectors.
std::vector<float> fake_embed(std::string_view text);
QueryEmbedder fake_query_embedder();

Chunk chunk_of(std::string id, std::string content);
/// A chunk of an artifact, with an index.
Chunk chunk_of(std::string id, std::string artifact, std::int64_t index, std::string content);

}  // namespace braid::retrieval
