#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "braid/retrieval/retriever.hpp"
#include "core/present.hpp"
#include "retrieval/application_options.hpp"
#include "retrieval/local_store.hpp"

/// What tests of stages share.
namespace braid::retrieval::on_a_shelf {

using Ids = std::vector<std::string>;
using Kind = StageEffect::Kind;

inline constexpr std::int64_t kDay = 86'400'000'000;
inline constexpr Timestamp kNow{20'000 * kDay};

/// Dense scores 0.9, 0.8, ... in the order of the ids, by vectors made for the query {1, 0, ...}.
class Shelf {
public:
    Shelf() = default;

    Chunk& put(const std::string& id, double score) {
        Chunk chunk = chunk_of(id, "text of " + id);
        chunk.vector.assign(16, 0.0F);
        chunk.vector[0] = static_cast<float>(score);
        const auto rest = static_cast<float>(std::sqrt(1 - score * score));
        chunk.vector[1 + chunks_.size() % 15] = rest;
        return chunks_.emplace_back(std::move(chunk));
    }

    Result<Answer> ask(std::vector<StageChoice> stages, std::vector<CustomStage> custom = {},
                       const std::function<void(Request&)>& change = nullptr) {
        if (!chunks_.empty()) store.add("default", std::exchange(chunks_, {}));
        Request request;
        request.query = "q";
        request.query_embedding.assign(16, 0.0F);
        request.query_embedding[0] = 1.0F;
        request.strategy = Strategy::Dense;
        request.stages = std::move(stages);
        if (change) change(request);
        RetrieverOptions options = application_options();
        options.stages = std::move(custom);
        options.now = [] { return kNow; };
        return Retriever(store, fake_query_embedder(), std::move(options))
            .retrieve(request, {}, {});
    }

    LocalStore store;

private:
    std::vector<Chunk> chunks_;
};

inline Ids ids_shown(const Result<Answer>& answer) {
    Ids ids;
    EXPECT_TRUE(answer) << (answer ? "" : answer.error().message);
    if (!answer) return ids;
    for (const Hit& hit : answer->hits) ids.push_back(hit.chunk.chunk_id);
    return ids;
}

/// What each stage says it did follows from the score before it.
inline void expect_sound_receipts(const Answer& answer) {
    for (const Hit& hit : answer.hits) {
        double score = hit.receipt.fused;
        for (const ReceiptStage& stage : hit.receipt.stages) {
            if (stage.operation == "multiply") score *= stage.value;
            if (stage.operation == "divide") score /= stage.value;
            if (stage.operation == "add") score += stage.value;
            if (stage.operation == "replace") score = stage.value;
            EXPECT_TRUE(stage.operation != "keep" || score >= stage.value);
            EXPECT_EQ(score, stage.score) << stage.stage;
        }
        EXPECT_EQ(score, hit.receipt.score);
        EXPECT_EQ(score, hit.score);
    }
}

}  // namespace braid::retrieval::on_a_shelf
