#include <algorithm>
#include <chrono>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "braid/core/charge.hpp"
#include "braid/core/parallel.hpp"
#include "braid/database.hpp"
#include "braid/engine/batch_admission.hpp"
#include "braid/engine/context.hpp"
#include "braid/engine/database_impl.hpp"
#include "braid/retrieval/retriever.hpp"

namespace braid {
namespace {

constexpr std::size_t kContextHits = 50;  // enough short ones to fill a prompt

}  // namespace

Result<Answer> Database::retrieve(const Request& request, const Principal& principal,
                                  const CallLimits& limits) const {
    return impl_->retriever.retrieve(request, principal, limits);
}

Result<SearchTarget> Database::target_of(const Request& request, const Principal& principal) const {
    return impl_->retriever.target_of(request, principal);
}

std::vector<Result<Answer>> Database::retrieve_batch(std::span<const Request> requests,
                                                     const Principal& principal,
                                                     const CallLimits& limits) const {
    std::vector<Result<Answer>> answers(requests.size());
    engine::BatchAdmission admission(answers, limits);
    core::run_parallel(requests.size(), [&](std::size_t i) {
        const CallLimits own = core::as_another_answer(limits);
        try {
            answers[i] = retrieve(requests[i], principal, own);
        } catch (const std::bad_alloc&) {
            answers[i] = fail(ErrorCode::ResourceExhausted, "out of memory");
        }
        admission.done(i, own);
    });
    return answers;
}

Result<Explanation> Database::explain(const Request& request, const std::string& chunk_id,
                                      const Principal& principal, const CallLimits& limits) const {
    return impl_->retriever.explain(request, chunk_id, principal, limits);
}

Result<WhyNot> Database::why_not(const Request& request, const std::string& chunk_id,
                                 const Principal& principal, const CallLimits& limits) const {
    return impl_->retriever.why_not(request, chunk_id, principal, limits);
}

Result<Context> Database::context(const Request& request, std::size_t budget,
                                  const Principal& principal, const CallLimits& limits) const {
    Request plain = request;  // neighbours are added here, as far as there is room
    plain.expand_neighbors = 0;
    plain.explain = false;
    if (!plain.top_k) plain.top_k = kContextHits;
    const auto start = std::chrono::steady_clock::now();
    BRAID_TRY(Answer answer, retrieve(plain, principal, limits));
    if (request.explain) answer.unused.emplace_back("explain");
    CallLimits whole = limits;  // the answer's deadline is the context's
    if (request.deadline_ms) {
        const auto end = start + std::chrono::milliseconds(*request.deadline_ms);
        whole.deadline = std::min(whole.deadline.value_or(end), end);
    }
    engine::ContextOptions options;
    options.budget = budget;
    options.neighbors = request.expand_neighbors;
    options.limits = whole;
    if (whole.deadline) {  // what was made must still be sent
        const auto left = std::max(*whole.deadline - std::chrono::steady_clock::now(), {});
        *options.limits.deadline -=
            std::min(left / 8, decltype(left)(std::chrono::milliseconds(200)));
    }
    if (!answer.hits.empty()) {
        BRAID_TRY(const Schema schema, impl_->schema(answer.hits.front().collection, whole));
        CallLimits now =
            whole;  // an embedder that could not be had for the answer is not waited for
        if (!answer.complete) now.deadline = start;
        auto counter = impl_->registry->token_counter(schema, now);
        if (counter && *counter) options.count_tokens = (*counter)->count;
        if (!counter) {
            answer.warnings.push_back("tokens are estimated: " + counter.error().message);
        }
    }
    const auto around = [&](const Hit& hit, std::size_t count) {
        const ReadScope scope{hit.collection, hit.namespace_, principal, std::nullopt};
        return neighbors(scope, hit.chunk.chunk_id, count, core::as_another_answer(whole));
    };
    return engine::make_context(answer, options, around);
}

Result<std::vector<std::optional<Chunk>>> Database::get(const ReadScope& scope,
                                                        std::span<const std::string> chunk_ids,
                                                        bool with_vectors,
                                                        const CallLimits& limits) const {
    BRAID_TRY(const auto snapshot, impl_->snapshot(scope.collection, limits));
    return snapshot->fetch(scope, chunk_ids, with_vectors);
}

Result<std::vector<Chunk>> Database::neighbors(const ReadScope& scope, const std::string& chunk_id,
                                               std::size_t count, const CallLimits& limits) const {
    BRAID_TRY(const auto snapshot, impl_->snapshot(scope.collection, limits));
    const std::vector<std::string> ids{chunk_id};
    const ReaderPtr apart = snapshot->with(core::apart_as_one_answer(limits));
    BRAID_TRY(const auto found, apart->fetch(scope, ids, false));
    const std::optional<Chunk>& maybe = found.front();
    if (!maybe) return fail(ErrorCode::NotFound, "there is no chunk \"" + chunk_id + "\"");
    const Chunk& chunk = *maybe;
    if (!chunk.chunk_index) return std::vector<Chunk>{chunk};
    const NeighborRange range{chunk.document_id, *chunk.chunk_index, count, count};
    BRAID_TRY(auto around, snapshot->neighbors(scope, std::span(&range, 1)));
    return std::move(around.front());
}

Result<std::uint64_t> Database::count(const ReadScope& scope, const CallLimits& limits) const {
    BRAID_TRY(const auto snapshot, impl_->snapshot(scope.collection, limits));
    return snapshot->count(scope);
}

Result<std::vector<FacetCount>> Database::facets(const ReadScope& scope, const std::string& field,
                                                 std::size_t limit,
                                                 const CallLimits& limits) const {
    BRAID_TRY(const auto snapshot, impl_->snapshot(scope.collection, limits));
    return snapshot->facets(scope, field, limit);
}

Result<CollectionStats> Database::stats(const ReadScope& scope, const CallLimits& limits) const {
    BRAID_TRY(const auto snapshot, impl_->snapshot(scope.collection, limits));
    BRAID_TRY(CollectionStats stats, snapshot->stats(scope));
    // Of chunks that are mostly gone probes say nothing.
    if (stats.probes && !scope.filter && 2 * stats.chunks < stats.probes->chunks) {
        stats.probes.reset();
    }
    return stats;
}

Result<std::optional<LegProbes>> Database::probe(const ReadScope& scope, const CallLimits& limits) {
    if (!scope.principal.sees_everything()) {
        return fail(ErrorCode::PermissionDenied,
                    "only a principal that may see the whole namespace can probe it");
    }
    return impl_->probe({.collection = scope.collection, .namespace_ = scope.namespace_}, limits);
}

Result<std::optional<TokenCounter>> Database::token_counter(const std::string& collection) const {
    BRAID_TRY(const Schema schema, impl_->schema(collection, {}));
    return impl_->registry->token_counter(schema, {});
}

Result<std::vector<Chunk>> Database::scan(const ReadScope& scope, const std::string& after,
                                          std::size_t limit, bool with_vectors,
                                          const CallLimits& limits) const {
    BRAID_TRY(const auto snapshot, impl_->snapshot(scope.collection, limits));
    return snapshot->scan(scope, after, limit, with_vectors);
}

}  // namespace braid
