#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "braid/embedder.hpp"
#include "braid/llm/chat_client.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::llm {

struct LlmPreprocessorOptions {
    ChatOptions chat;
    /// Of one call, all attempts together; an hour at most. A caller's deadline cuts it further: to
    /// half of the time left, so that the plain query can still be searched.
    std::chrono::milliseconds time_limit{8'000};
    /// After an endpoint was down or too slow, calls fail at once for this long, rather than make
    /// every query wait. 0: never.
    std::chrono::milliseconds rest_after_failure{5'000};
    std::size_t cache_bytes = 4U << 20U;  // of remembered replies; 0 remembers none
};

/// Over a chat endpoint. Replies are cleaned (phrasing.hpp) and remembered by model, kind and
/// query; failures are not.
///
/// InvalidArgument for options that cannot work. The calls fail as ChatClient::complete, apart
/// from: Unavailable (`time_limit` is over, or the endpoint rests); DeadlineExceeded (half of the
/// caller's time is over); Corruption (a reply without a single usable line); InvalidArgument (a
/// query that is blank, not UTF-8, or longer than 16 KiB).
Result<std::shared_ptr<const QueryPreprocessor>> make_llm_preprocessor(
    const LlmPreprocessorOptions& options);

/// Which preprocessors a request chains. Each works on the query as it was asked, so their order
/// does not matter, and several run at the same time.
struct Preprocessing {
    bool expand = false;
    bool hyde = false;
};

/// A query, ready for both legs.
struct PreparedQuery {
    std::vector<std::string> variants;  // the query first, then its phrasings: the sparse leg's
    std::string dense_text;             // to embed: the hypothetical answer, or else the query
    bool hypothetical = false;          // dense_text is a hypothetical answer: a passage, no query
    std::vector<std::string> warnings;  // what was asked for and is missing, and why
};

/// Never fails: where the model is down, slow or talks nonsense, or there is none (`model` is
/// null), the plain query stands in, and a warning says so. That the caller's own limits are over
/// is left to the search to report.
PreparedQuery prepare_query(const QueryPreprocessor* model, std::string_view query,
                            Preprocessing wanted, const CallLimits& limits);

}  // namespace braid::llm
