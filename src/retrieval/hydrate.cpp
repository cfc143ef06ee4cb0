#include "braid/retrieval/hydrate.hpp"

#include <string>
#include <utility>

namespace braid::retrieval {
namespace {

/// Puts the chunks before and after around the hit's text; no index, no expansion.
Result<> expand(const Work& work, Hit& hit) {
    if (!hit.chunk.chunk_index) return {};
    const std::size_t count = work.plan.expand_neighbors;
    BRAID_TRY(const auto chunks,
              work.backend.neighbors(work.snapshot, work.scope_of(hit.collection),
                                     hit.chunk.document_id, *hit.chunk.chunk_index, count, count));
    std::string text;
    for (const Chunk& chunk : chunks) {
        if (!text.empty()) text += "\n[CHUNK BOUNDARY]\n";
        text += chunk.content;
    }
    hit.expanded = std::move(text);
    return {};
}

/// The raw scores of the legs that found the chunk.
// NOLINTNEXTLINE(misc-no-recursion): receipts nest two levels
void set_leg_scores(const Receipt& receipt, Hit& hit) {
    for (const ReceiptSource& source : receipt.sources) {
        if (source.nested) {
            if (source.source == hit.collection) set_leg_scores(*source.nested, hit);
            continue;
        }
        (source.source == "dense" ? hit.dense_score : hit.sparse_score) = source.score;
    }
}

}  // namespace

Result<> fetch_chunks(const Work& work, std::span<Candidate> candidates, bool with_vectors) {
    for (std::size_t c = 0; c < work.plan.collections.size(); ++c) {
        std::vector<std::string> ids;
        std::vector<Candidate*> waiting;
        for (Candidate& candidate : candidates) {
            if (candidate.collection != c || (candidate.chunk && !with_vectors)) continue;
            ids.push_back(candidate.chunk_id);
            waiting.push_back(&candidate);
        }
        if (ids.empty()) continue;
        BRAID_TRY(auto chunks,
                  work.backend.fetch(work.snapshot, work.scope_of(work.plan.collections[c].name),
                                     ids, with_vectors));
        for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]->chunk = std::move(chunks[i]);
    }
    return {};
}

Result<> add_hits(Work& work, std::span<Candidate> candidates, std::size_t before) {
    BRAID_CHECK(fetch_chunks(work, candidates, false));
    for (Candidate& candidate : candidates) {
        if (!candidate.chunk) continue;
        Hit& hit = work.answer.hits.emplace_back();
        hit.collection = work.plan.collections[candidate.collection].name;
        hit.namespace_ = work.plan.namespace_;
        hit.chunk = *std::move(candidate.chunk);
        hit.chunk.vector.clear();
        if (candidate.hop) hit.chunk.metadata.set("hop", *candidate.hop);
        hit.strategy = work.plan.strategy;
        hit.rank = before + work.answer.hits.size();
        hit.receipt = std::move(candidate.receipt);
        hit.score = hit.receipt.score;
        set_leg_scores(hit.receipt, hit);
        if (work.plan.expand_neighbors > 0) BRAID_CHECK(expand(work, hit));
    }
    return {};
}

}  // namespace braid::retrieval
