#include "braid/retrieval/multi_hop.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>

#include "braid/core/charge.hpp"
#include "braid/core/utf8.hpp"
#include "braid/retrieval/receipt.hpp"

namespace braid::retrieval {
namespace {

constexpr double kDecay = 0.9;
constexpr std::size_t kChunksPerQuery = 3;
constexpr std::size_t kCodePointsPerChunk = 200;

class Hops {
public:
    Hops(Work& work, QueryVectors& vectors, std::size_t collection, LegRun& leg)
        : work_(work),
          vectors_(vectors),
          planned_(work.plan.collections[collection]),
          index_(collection),
          leg_(leg) {}

    Result<std::vector<Candidate>> run() {
        Leg leg = leg_.leg;
        for (std::size_t hop = 0; hop < work_.plan.max_hops; ++hop) {
            auto fresh = search(leg, hop);
            if (!fresh) {
                if (hop == 0) return tl::unexpected(std::move(fresh).error());
                stopped_at(hop, fresh.error());
                break;
            }
            if (fresh->empty() || hop + 1 == work_.plan.max_hops) break;
            auto vector = next_vector(*fresh);
            if (!vector) {
                stopped_at(hop + 1, vector.error());
                break;
            }
            leg.vector = *std::move(vector);
        }
        std::ranges::sort(found_, [](const Candidate& a, const Candidate& b) {
            return a.receipt.score != b.receipt.score ? a.receipt.score > b.receipt.score
                                                      : a.chunk_id < b.chunk_id;
        });
        return std::move(found_);
    }

private:
    /// The ids of the chunks that this hop found first.
    Result<std::vector<std::string>> search(const Leg& leg, std::size_t hop) {
        BRAID_TRY(LegResult result, work_.snapshot->with(work_.leg_limits)->search_leg(leg));
        BRAID_CHECK(check_list(result));
        leg_.time_ms += result.time_ms;
        std::vector<std::string> fresh;
        for (std::size_t i = 0; i < result.hits.size(); ++i) {
            const LegHit& hit = result.hits[i];
            if (!seen_.insert(hit.chunk_id).second) continue;
            fresh.push_back(hit.chunk_id);
            Candidate& candidate = found_.emplace_back();
            candidate.collection = index_;
            candidate.chunk_id = hit.chunk_id;
            candidate.hop = static_cast<std::int64_t>(hop);
            candidate.receipt = hop_receipt(hit.score, i + 1, std::pow(kDecay, hop),
                                            planned_.schema.vectors.metric);
        }
        leg_.candidates += fresh.size();
        if (!leg_.result) leg_.result = std::move(result);
        return fresh;
    }

    Result<std::vector<float>> next_vector(std::span<const std::string> fresh) {
        const auto best = fresh.first(std::min(fresh.size(), kChunksPerQuery));
        const ReaderPtr snapshot = work_.snapshot->with(core::apart(work_.leg_limits));
        BRAID_TRY(const auto chunks, snapshot->fetch(work_.scope_of(planned_.name), best, false));
        std::string query = work_.request.query;
        for (const auto& chunk : chunks) {
            if (!chunk) continue;
            query += ' ';
            query += core::first_code_points(chunk->content, kCodePointsPerChunk);
        }
        auto vector = vectors_.embed(planned_, query);
        if (!vector) return fail("embedding what was found", std::move(vector).error());
        return vector;
    }

    void stopped_at(std::size_t hop, const Error& error) {
        work_.fell_short("hop_failed", "multi_hop stopped before hop " + std::to_string(hop) +
                                           " in collection \"" + planned_.name +
                                           "\": " + error.message);
    }

    Work& work_;
    QueryVectors& vectors_;
    const CollectionPlan& planned_;
    std::size_t index_;
    LegRun& leg_;
    std::vector<Candidate> found_;
    std::unordered_set<std::string> seen_;
};

}  // namespace

Result<std::vector<Candidate>> search_hops(Work& work, QueryVectors& vectors,
                                           std::size_t collection, LegRun& leg) {
    return Hops(work, vectors, collection, leg).run();
}

}  // namespace braid::retrieval
