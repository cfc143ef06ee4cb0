#include "braid/retrieval/hydrate.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "braid/core/charge.hpp"

namespace braid::retrieval {
namespace {

constexpr std::string_view kBoundary = "\n[CHUNK BOUNDARY]\n";

/// From `a` to `b`, which is not below it; the integers are wide enough for every distance.
std::uint64_t distance(std::int64_t a, std::int64_t b) {
    return static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
}

std::uint64_t sum_at_most(std::uint64_t a, std::uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/// Those of `chunks` that lie near the hit, as one text.
Result<> join(const std::vector<Chunk>& chunks, std::size_t count, const CallLimits& limits,
              Hit& hit) {
    const std::int64_t index = *hit.chunk.chunk_index;
    const auto near = [&](const Chunk& chunk) {
        const std::int64_t i = chunk.chunk_index.value_or(index);
        return (i >= index ? distance(index, i) : distance(i, index)) <= count;
    };
    std::size_t bytes = 0;
    std::size_t cost = 0;
    for (const Chunk& chunk : chunks) {
        if (!near(chunk)) continue;
        bytes += chunk.content.size() + kBoundary.size();
        cost += core::printed_size(chunk.content) + kBoundary.size();
    }
    BRAID_CHECK(core::charge(limits, cost));
    std::string text;
    text.reserve(bytes);
    for (const Chunk& chunk : chunks) {
        if (!near(chunk)) continue;
        if (!text.empty()) text += kBoundary;
        text += chunk.content;
    }
    hit.expanded = std::move(text);
    return {};
}

/// Hits of one document that lie near each other, and what has to be fetched to expand them.
struct HitRun {
    NeighborRange range;
    std::vector<Hit*> hits;
};

/// Runs of hits of one document, in the order of their indexes. Neighbours that hits share are
/// fetched once.
void add_runs(std::span<Hit* const> hits, std::uint64_t count, std::vector<HitRun>& runs) {
    while (!hits.empty()) {
        const auto index = [&](std::size_t i) { return *hits[i]->chunk.chunk_index; };
        std::size_t run = 1;
        while (run < hits.size() &&
               distance(index(run - 1), index(run)) <= sum_at_most(count, count)) {
            ++run;
        }
        const std::uint64_t after = sum_at_most(distance(index(0), index(run - 1)), count);
        runs.push_back({{hits.front()->chunk.document_id, index(0), count, after},
                        {hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(run)}});
        hits = hits.subspan(run);
    }
}

/// Puts the chunks before and after around each hit's text; no index, no expansion.
Result<> expand(const Work& work, std::span<Hit> hits, const CallLimits& limits) {
    const std::size_t count = work.plan.expand_neighbors;
    std::map<std::string, std::map<std::string_view, std::vector<Hit*>>> collections;
    for (Hit& hit : hits) {
        if (!hit.chunk.chunk_index) continue;
        collections[hit.collection][hit.chunk.document_id].push_back(&hit);
    }
    for (auto& [collection, documents] : collections) {
        std::vector<HitRun> runs;
        for (auto& [document, members] : documents) {
            std::ranges::stable_sort(members, {},
                                     [](const Hit* hit) { return hit->chunk.chunk_index; });
            add_runs(members, count, runs);
        }
        std::vector<NeighborRange> ranges;
        ranges.reserve(runs.size());
        for (const HitRun& run : runs) ranges.push_back(run.range);
        const ReaderPtr snapshot = work.snapshot->with(core::apart_as_one_answer(limits));
        BRAID_TRY(const auto chunks, snapshot->neighbors(work.scope_of(collection), ranges));
        for (std::size_t i = 0; i < runs.size(); ++i) {
            for (Hit* const hit : runs[i].hits) {
                BRAID_CHECK(join(chunks[i], count, limits, *hit));
            }
        }
    }
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

/// Says which scores come of similar words too.
// NOLINTNEXTLINE(misc-no-recursion): receipts nest two levels
void mark_corrected(std::span<const Correction> corrections, const std::string& collection,
                    Receipt& receipt) {
    for (ReceiptSource& source : receipt.sources) {
        if (source.nested) {
            mark_corrected(corrections, source.source, *source.nested);
        } else if (source.source == "sparse") {
            source.corrected =
                std::ranges::count(corrections, collection, &Correction::collection) > 0;
        }
    }
}

}  // namespace

Result<> fetch_chunks(const Work& work, std::span<Candidate> candidates, bool with_vectors,
                      const CallLimits& limits) {
    const ReaderPtr snapshot = work.snapshot->with(limits);
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
                  snapshot->fetch(work.scope_of(work.plan.collections[c].name), ids, with_vectors));
        for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i]->chunk = std::move(chunks[i]);
    }
    return {};
}

Result<> add_hits(Work& work, std::span<Candidate> candidates, std::size_t before) {
    const CallLimits limits = work.hydrating();
    for (const Candidate& candidate : candidates) {  // those that a stage has looked at
        if (candidate.chunk) BRAID_CHECK(core::charge(limits, *candidate.chunk));
    }
    BRAID_CHECK(fetch_chunks(work, candidates, false, limits));
    const std::size_t first = work.answer.hits.size();
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
        complete_receipt(candidate);
        hit.receipt = std::move(candidate.receipt);
        hit.score = hit.receipt.score;
        set_leg_scores(hit.receipt, hit);
        if (!work.answer.corrections.empty()) {
            mark_corrected(work.answer.corrections, hit.collection, hit.receipt);
        }
    }
    if (work.plan.expand_neighbors == 0) return {};
    return expand(work, std::span(work.answer.hits).subspan(first), limits);
}

}  // namespace braid::retrieval
