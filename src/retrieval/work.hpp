#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/answer.hpp"
#include "braid/backend.hpp"
#include "braid/request.hpp"
#include "braid/retrieval/plan.hpp"
#include "braid/retrieval/query_embedder.hpp"

namespace braid::retrieval {

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// What the steps of one retrieval share: what was asked, what will be done, and the answer so far.
struct Work {
    const Backend& backend;
    const QueryEmbedder& embedder;
    const LogSink& log_sink;
    const Request& request;
    const Principal& principal;
    CallLimits limits;
    CallLimits copying{};  // of chunks that stages look at: no deadline, and no part of the answer

    SnapshotPtr snapshot;
    Plan plan;
    Answer answer;
    std::vector<std::string> shortfalls;  // of the answer so far
    std::vector<std::string> variants;    // what the sparse legs search: the query, its phrasings
    std::string dense_text;               // what the dense legs embed
    const QueryEmbedder* dense_embedder = nullptr;  // with which
    /// The query's vectors by collection, if an earlier page has made them.
    const std::map<std::string, std::vector<float>>* vectors = nullptr;

    /// Something that was asked for could not be done.
    void fell_short(std::string_view event, std::string message) {
        answer.complete = false;
        log(LogEvent::Level::Warning, event, message);
        shortfalls.push_back(message);
        answer.warnings.push_back(std::move(message));
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
    std::optional<std::int64_t> hop;  // multi_hop: which one found it
    std::optional<Chunk> chunk;       // once a step had to fetch it
    std::size_t tier = 0;             // of its band; a stage put the higher ones below
};

}  // namespace braid::retrieval
