#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "braid/embedder.hpp"
#include "braid/result.hpp"

namespace braid::embed {

/// An endpoint that answers like OpenAI's `POST {base_url}/embeddings`.
struct HttpEmbedderOptions {
    std::string base_url = "https://api.openai.com/v1";
    std::string api_key;  // sent as a bearer token if set; never part of an error or a log
    std::string model = "text-embedding-3-small";
    /// Of the vectors. 0: found out by one request from make_http_embedder.
    std::size_t dimension = 0;
    /// Ask the endpoint for `dimension`. Off for models that cannot shorten their vectors.
    bool send_dimension = true;
    /// Ask for base64, a third of the size; off for endpoints that reject the request. Either form
    /// of answer is understood.
    bool ask_base64 = true;
    std::string query_prefix;
    std::string passage_prefix;
    std::size_t token_limit = 0;  // 0: unknown
    std::size_t max_batch = 256;  // texts per request, 1 to 2048
    /// Of one request; 429, 5xx and broken connections are retried after `Retry-After`, or with
    /// exponential back-off and jitter.
    std::size_t max_attempts = 6;
    std::chrono::milliseconds first_backoff{500};
    std::chrono::milliseconds max_backoff{30'000};
    std::chrono::milliseconds connect_timeout{10'000};
    std::chrono::milliseconds request_timeout{60'000};
    /// The same for interactive calls (CallLimits::interactive), and how long such a call may take
    /// in all, whatever its deadline. An endpoint that asks for more patience is given up on.
    std::size_t interactive_attempts = 2;
    std::chrono::milliseconds interactive_backoff{200};
    std::chrono::milliseconds interactive_timeout{10'000};
    std::string proxy;  // empty: direct
    /// Off: endpoints on loopback, private and link-local addresses are refused.
    bool allow_private = true;
    /// On: every call fails with PermissionDenied and nothing is sent.
    bool offline = false;
};

/// InvalidArgument for options that cannot work; with dimension 0, also any error from embedding
/// one text, which counts as interactive.
///
/// `embed` sends batches one after another, halves a batch that the endpoint finds too large (413,
/// or 400 with several texts), and verifies number, order, dimension and finiteness of what comes
/// back. Vectors are passed on as received, not normalised. An empty text, which such endpoints
/// reject, is sent as one space. Token counts are estimates; nothing is reported as truncated.
/// Unavailable once attempts are used up; DeadlineExceeded rather than a wait past the deadline;
/// PermissionDenied (offline, 401, 403); InvalidArgument (other 4xx); Corruption (an answer that
/// breaks the contract).
Result<std::shared_ptr<const Embedder>> make_http_embedder(const HttpEmbedderOptions& options);

}  // namespace braid::embed
