#include "retrieval/local_store.hpp"

#include <cstdlib>

#include "braid/local/local_backend.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/memory_directory.hpp"
#include "embed/fake_embedder.hpp"

namespace braid::retrieval {
namespace {

constexpr std::size_t kDimension = 16;

void require(bool done) {
    if (!done) std::abort();  // the fixture itself is broken
}

std::unique_ptr<Backend> open_in_memory() {
    auto opened = local::open_local_backend(store::make_memory_directory(), {});
    require(opened.has_value());
    return std::move(opened->backend);
}

}  // namespace

/// Reads of a LocalStore, whose hooks it asks first.
class LocalStore::FaultyReader final : public ForwardingReader {
public:
    FaultyReader(const LocalStore& store, ReaderPtr inner)
        : ForwardingReader(std::move(inner)), store_(store) {}

    std::vector<Result<LegResult>> search(std::span<const Leg> legs) const override {
        return search_each(legs, [this](const Leg& leg) { return search_one(leg); });
    }
    Result<std::vector<std::optional<double>>> score(
        const Leg& leg, std::span<const std::string> chunk_ids) const override {
        if (store_.score_fault) {
            if (auto error = store_.score_fault(leg)) return tl::unexpected(*std::move(error));
        }
        return inner().score(leg, chunk_ids);
    }
    Result<std::vector<std::optional<Chunk>>> fetch(const ReadScope& scope,
                                                    std::span<const std::string> chunk_ids,
                                                    bool with_vectors) const override {
        if (store_.fetch_fault) {
            auto error = store_.fetch_fault(scope.collection);
            if (error) return tl::unexpected(*std::move(error));
        }
        return inner().fetch(scope, chunk_ids, with_vectors);
    }

private:
    ReaderPtr wrap(ReaderPtr inner) const override {
        return std::make_shared<FaultyReader>(store_, std::move(inner));
    }
    Result<LegResult> search_one(const Leg& leg) const {
        if (store_.remember) {
            const std::scoped_lock lock(store_.mutex_);  // legs are searched side by side
            store_.searched.push_back(leg);
        }
        if (store_.leg_fault) {
            if (auto error = store_.leg_fault(leg)) return tl::unexpected(*std::move(error));
        }
        auto result = inner().search_leg(leg);
        if (result && store_.leg_garbage) store_.leg_garbage(leg, *result);
        return result;
    }

    const LocalStore& store_;
};

LocalStore::LocalStore() : ForwardingBackend(open_in_memory()) {}

void LocalStore::add(const std::string& collection, std::vector<Chunk> chunks,
                     const std::string& embedder) {
    if (!inner().describe(collection, {})) {
        Schema schema;
        schema.vectors.embedder = embedder;
        schema.vectors.dimension = embedder == "none" ? 0 : kDimension;
        require(inner().create_collection(collection, schema).has_value());
    }
    for (Chunk& chunk : chunks) {
        if (embedder != "none" && chunk.vector.empty()) chunk.vector = fake_embed(chunk.content);
    }
    require(inner().upsert(collection, "default", std::move(chunks), {}).has_value());
}

Result<ReaderPtr> LocalStore::snapshot(std::span<const std::string> names,
                                       const CallLimits& limits) const {
    for (const std::string& name : names) {
        if (!pin_fault) break;
        if (auto error = pin_fault(name)) return tl::unexpected(*std::move(error));
    }
    BRAID_TRY(ReaderPtr found, inner().snapshot(names, limits));
    return ReaderPtr(std::make_shared<FaultyReader>(*this, std::move(found)));
}

std::vector<float> fake_embed(std::string_view text) {
    static const embed::FakeEmbedder kEmbedder(kDimension);
    return kEmbedder.embed(std::span(&text, 1), TextRole::Passage, {})->front().vector;
}

QueryEmbedder fake_query_embedder() {
    return [](const Schema&, std::string_view text, const CallLimits&) -> Result<QueryVector> {
        return QueryVector{fake_embed(text), false, {}};
    };
}

Chunk chunk_of(std::string id, std::string content) {
    Chunk chunk;
    chunk.chunk_id = std::move(id);
    chunk.content = std::move(content);
    return chunk;
}

Chunk chunk_of(std::string id, std::string artifact, std::int64_t index, std::string content) {
    Chunk chunk = chunk_of(std::move(id), std::move(content));
    chunk.document_id = std::move(artifact);
    chunk.chunk_index = index;
    return chunk;
}

}  // namespace braid::retrieval
