#pragma once

#include <optional>
#include <string>
#include <vector>

#include "braid/answer.hpp"
#include "braid/backend.hpp"
#include "braid/request.hpp"
#include "braid/result.hpp"
#include "braid/retrieval/retriever.hpp"
#include "braid/types.hpp"

namespace braid::retrieval {

/// Follows one chunk through a request, by asking the retriever in variations of it.
class ChunkTrace {
public:
    /// What the retriever lends; all of it, and what the constructor is given, must outlive this.
    struct Tools {
        const Retriever& retriever;
        const Backend& backend;
        const RetrieverOptions& options;
    };

    ChunkTrace(const Tools& tools, const Request& request, const std::string& chunk_id,
               const Principal& principal, const CallLimits& limits);

    Result<Explanation> explain();
    Result<WhyNot> why_not();

private:
    Result<> find_chunk();
    Result<> measure_legs(const Answer& answer);
    Result<LegStanding> standing_in(const Leg& leg, std::size_t depth) const;

    Result<Answer> ask(const Request& request) const;
    const Hit* find_in(const Answer& answer) const;
    /// Its place in the request's whole ranking, page after page.
    Result<std::optional<Hit>> place_in(const Request& request) const;
    Result<bool> passes_filter(const Request& request) const;
    bool within_depth() const;

    // Each finds out whether it was lost there, and says so.
    Result<bool> lost_by_filter();
    Result<bool> lost_by_order(const Request& bare);
    Result<> lost_by_rank(const Hit& hit, const Request& bare);
    Result<bool> lost_to_a_copy();
    Result<bool> lost_by_threshold(const Request& bare);
    Result<bool> lost_by_stage();
    Result<bool> lost_to_another(const Request& bare);
    Result<> never_reached();

    void lost(std::string at, std::string reason);
    /// Keeps the change if no other was found and the changed request's answer holds the chunk.
    void suggest(const Request& changed, std::string key, Value value);

    Tools tools_;
    Request request_;
    const Principal& principal_;
    CallLimits limits_;
    std::vector<std::string> unused_;  // keys that say what hits look like: here there are none
    std::vector<std::string> names_;
    ReadScope scope_;  // of the collection that has it
    ReaderPtr snapshot_;
    Chunk chunk_;
    Answer answer_;             // of the request as it is
    mutable QueryForms forms_;  // the query as that answer was found: the variations use it too
    WhyNot found_;
};

}  // namespace braid::retrieval
