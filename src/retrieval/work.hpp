#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/answer.hpp"
#include "braid/backend.hpp"
#include "braid/core/errand.hpp"
#include "braid/request.hpp"
#include "braid/retrieval/plan.hpp"
#include "braid/retrieval/query_embedder.hpp"
#include "braid/retrieval/receipt.hpp"

namespace braid::retrieval {

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// What the steps of one retrieval share: what was asked, what will be done, and the answer so far.
struct Work {
    const Backend& backend;
    const QueryEmbedder& embedder;
    const QueryEmbedder& hypothesis_embedder;  // may be empty
    const QueryMemory& remembered;             // may be empty
    core::Crew& crew;
    const LogSink& log_sink;
    const Request& request;
    const Principal& principal;
    CallLimits limits;
    CallLimits copying{};  // of chunks that stages look at: no deadline, and no part of the answer
    /// These end a little earlier, one after the other, so that what was found by then is in time.
    CallLimits vector_limits;  // of embedders
    CallLimits wait_limits;    // for embedders, which may say why they failed
    CallLimits leg_limits;
    CallLimits stage_limits;

    ReaderPtr snapshot;  // within `limits`; see CallLimits of the single steps above
    Plan plan;
    Answer answer;
    std::vector<std::string> shortfalls;     // of the answer so far
    QueryForms forms;                        // of the query; what is there is not asked for again
    std::optional<std::string> plain_query;  // of the query language: its words, to be embedded

    /// Something that was asked for could not be done.
    void fell_short(std::string_view event, std::string message) {
        answer.complete = false;
        log(LogEvent::Level::Warning, event, message);
        shortfalls.push_back(message);
        answer.warnings.push_back(std::move(message));
    }
    /// Something that the answer should say, once.
    void note(std::string message) {
        if (std::ranges::find(answer.warnings, message) == answer.warnings.end()) {
            answer.warnings.push_back(std::move(message));
        }
    }
    void log(LogEvent::Level level, std::string_view event, std::string_view message) const {
        if (log_sink) log_sink({level, event, message});
    }
    /// What is copied for the answer. What was ranked is shown, however late it has become.
    CallLimits hydrating() const {
        CallLimits own = limits;
        own.deadline.reset();
        return own;
    }
    /// What a read of the collection may touch; the request's filter is left to the legs.
    ReadScope scope_of(const std::string& collection) const {
        return {collection, plan.namespace_, principal, std::nullopt};
    }
};

/// A hit on its way into the answer.
struct Candidate {
    std::size_t collection = 0;  // index into the plan's
    std::string chunk_id;
    Receipt receipt;
    std::shared_ptr<const Receipt> common;  // what the receipt lacks; see complete_receipt()
    std::optional<std::int64_t> hop;        // multi_hop: which one found it
    std::optional<Chunk> chunk;             // once a step had to fetch it
    std::size_t tier = 0;                   // of its band; a stage put the higher ones below
};

/// Before anybody is shown the receipt. Few candidates come so far: what the receipts of a list
/// have in common is copied only for those.
inline void complete_receipt(Candidate& candidate) {
    if (candidate.common) complete(candidate.receipt, *candidate.common);
    candidate.common.reset();
}

/// By score, then smaller id. Chunks of several collections may have the same.
inline bool ranks_before(const Candidate& a, const Candidate& b) {
    if (a.receipt.score != b.receipt.score) return a.receipt.score > b.receipt.score;
    return a.chunk_id < b.chunk_id;
}

}  // namespace braid::retrieval
