#pragma once

#include <optional>
#include <vector>

#include "braid/core/errand.hpp"
#include "braid/result.hpp"
#include "braid/retrieval/work.hpp"

namespace braid::retrieval {

/// The query as vectors, one for each embedder that the dense legs need. What takes time is done
/// beside whatever else the caller does.
class QueryVectors {
public:
    explicit QueryVectors(Work& work) : work_(work) {}

    /// Has the query embedded for every collection with a dense leg, and returns at once.
    void start();
    /// Whether nobody has to be waited for.
    bool at_hand() const;
    /// Waits as long as the request's time allows.
    Result<std::vector<float>> of(const CollectionPlan& collection);

    /// Embeds another text for a collection, and waits for it in the same way.
    Result<std::vector<float>> embed(const CollectionPlan& collection, const std::string& text);

private:
    struct Timed {
        QueryVector query;
        double time_ms = 0;
    };
    struct ByEmbedder {
        const VectorSpec* spec = nullptr;
        std::optional<core::Errand<Timed>> errand;  // none: `vector` is there
        Result<std::vector<float>> vector;
    };

    /// What is known without an embedder; nullopt: one has to be asked.
    std::optional<Result<std::vector<float>>> known(const CollectionPlan& collection) const;
    ByEmbedder* find(const VectorSpec& spec);
    core::Errand<Timed> send(const QueryEmbedder& embedder, const Schema& schema,
                             const std::string& text) const;
    Result<std::vector<float>> take(const core::Errand<Timed>& errand);
    void note(QueryVector& query, double time_ms);

    Work& work_;
    std::vector<ByEmbedder> made_;
};

}  // namespace braid::retrieval
