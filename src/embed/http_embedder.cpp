#include "braid/embed/http_embedder.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/core/utf8.hpp"
#include "braid/embed/bert_normalizer.hpp"
#include "braid/embed/embedding_response.hpp"
#include "braid/json/json.hpp"
#include "braid/net/client/http_client.hpp"
#include "braid/net/client/retry.hpp"
#include "braid/net/client/url.hpp"
#include "braid/value.hpp"

namespace braid::embed {
namespace {

constexpr std::size_t kMostTextsPerRequest = 2048;
constexpr std::size_t kMostDimensions = 65'536;
constexpr std::size_t kMostMessageBytes = 300;
constexpr std::string_view kMask = "[key]";  // replaces the API key

net::HttpClientOptions client_options(const HttpEmbedderOptions& options) {
    net::HttpClientOptions http;
    http.connect_timeout = options.connect_timeout;
    http.total_timeout = options.request_timeout;
    http.proxy = options.proxy;
    http.allow_private = options.allow_private;
    http.offline = options.offline;
    // Written as numbers, a dimension takes up to some 25 bytes.
    const std::size_t dimensions = options.dimension != 0 ? options.dimension : kMostDimensions;
    const std::size_t texts = options.dimension != 0 ? options.max_batch : 1;
    http.max_response_bytes = (64U << 10U) + texts * (dimensions * 32 + 1024);
    return http;
}

Result<> check_options(const HttpEmbedderOptions& options) {
    const auto bad = [](std::string what) {
        return invalid_argument("embedding endpoint: " + std::move(what));
    };
    if (options.model.empty()) return bad("model is empty");
    if (options.max_batch < 1 || options.max_batch > kMostTextsPerRequest) {
        return bad("max_batch " + std::to_string(options.max_batch) + " is not between 1 and " +
                   std::to_string(kMostTextsPerRequest));
    }
    if (options.dimension > kMostDimensions) {
        return bad("dimension " + std::to_string(options.dimension) + " is more than " +
                   std::to_string(kMostDimensions));
    }
    if (options.max_attempts < 1) return bad("max_attempts must be 1 or more");
    if (options.interactive_attempts < 1) return bad("interactive_attempts must be 1 or more");
    if (!net::is_sendable_key(options.api_key)) {
        return bad("the API key holds characters that cannot be sent");
    }
    if (auto url = net::parse_url(options.base_url); !url) {
        return fail("embedding endpoint, base_url", std::move(url).error());
    }
    return {};
}

/// The endpoint's message, shortened, and without the key in case it repeats that.
std::string quotable(std::string text, const std::string& key) {
    for (std::size_t at = 0; !key.empty() && (at = text.find(key, at)) != std::string::npos;
         at += kMask.size()) {
        text.replace(at, key.size(), kMask);
    }
    text.resize(core::cut_at_most(text, kMostMessageBytes).size());
    return text;
}

class HttpEmbedder final : public Embedder {
public:
    explicit HttpEmbedder(const HttpEmbedderOptions& options)
        : options_(options),
          url_(net::with_path(options.base_url, "/embeddings")),
          client_(client_options(options)),
          fingerprint_{.model = options.model,
                       .model_hash = "",
                       .dimension = options.dimension,
                       .pooling = "",
                       .query_prefix = options.query_prefix,
                       .passage_prefix = options.passage_prefix,
                       .token_limit = options.token_limit,
                       .runtime = "",
                       .cpu_level = ""} {}

    const EmbedderFingerprint& fingerprint() const override { return fingerprint_; }
    Result<std::vector<Embedding>> embed(std::span<const std::string_view> texts, TextRole role,
                                         const CallLimits& limits) const override;
    std::size_t count_tokens(std::string_view text) const override;

private:
    using Inputs = std::span<const std::string>;

    Result<std::vector<Embedding>> embed_all(std::span<const std::string_view> texts, TextRole role,
                                             const CallLimits& limits) const;
    std::string request_body(Inputs inputs) const;
    Result<net::HttpResponse> post(Inputs inputs, const CallLimits& limits) const;
    Error refusal(const net::HttpResponse& response) const;

    HttpEmbedderOptions options_;
    std::string url_;
    net::HttpClient client_;
    EmbedderFingerprint fingerprint_;
};

std::string HttpEmbedder::request_body(Inputs inputs) const {
    Array list;
    list.reserve(inputs.size());
    for (const std::string& input : inputs) list.emplace_back(input);
    Object request{{"model", options_.model},
                   {"input", std::move(list)},
                   {"encoding_format", options_.ask_base64 ? "base64" : "float"}};
    if (options_.send_dimension && options_.dimension != 0) {
        request.set("dimensions", options_.dimension);
    }
    return json::print(std::move(request));
}

Result<net::HttpResponse> HttpEmbedder::post(Inputs inputs, const CallLimits& limits) const {
    net::HttpRequest request{
        .method = "POST",
        .url = url_,
        .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
        .body = request_body(inputs)};
    if (!options_.api_key.empty()) {
        request.headers.push_back({"Authorization", "Bearer " + options_.api_key});
    }
    if (!limits.traceparent.empty()) request.headers.push_back({"traceparent", limits.traceparent});
    net::RetryPolicy policy{.max_attempts = options_.max_attempts,
                            .first_backoff = options_.first_backoff,
                            .max_backoff = options_.max_backoff};
    if (limits.interactive) {
        policy.max_attempts = std::min(options_.interactive_attempts, options_.max_attempts);
        policy.first_backoff = std::min(options_.interactive_backoff, options_.first_backoff);
        policy.max_retry_after = options_.interactive_timeout;
    }
    return net::send_with_retries(client_, request, policy, limits);
}

Error HttpEmbedder::refusal(const net::HttpResponse& response) const {
    std::string message = "embedding endpoint: status " + std::to_string(response.status);
    if (response.status == 401 || response.status == 403) {
        return {ErrorCode::PermissionDenied, message + " (is the API key right?)"};
    }
    if (const auto body = json::parse(response.body)) {
        const Value* const error = body->find("error");
        const Value* const said = error != nullptr ? error->find("message") : nullptr;
        if (said != nullptr && said->is_string()) {
            const std::string text = quotable(said->as_string(), options_.api_key);
            message += ": " + text;
        }
    }
    return {response.status >= 400 && response.status < 500 ? ErrorCode::InvalidArgument
                                                            : ErrorCode::Unavailable,
            std::move(message)};
}

Result<std::vector<Embedding>> HttpEmbedder::embed(std::span<const std::string_view> texts,
                                                   TextRole role, const CallLimits& limits) const {
    if (!limits.interactive) return embed_all(texts, role, limits);
    CallLimits own = limits;
    const auto end = std::chrono::steady_clock::now() + options_.interactive_timeout;
    own.deadline = std::min(limits.deadline.value_or(end), end);
    auto embeddings = embed_all(texts, role, own);
    if (!embeddings && embeddings.error().code == ErrorCode::DeadlineExceeded &&
        own.deadline == end) {  // our deadline, not the caller's
        return fail(ErrorCode::Unavailable,
                    "gave up after " + std::to_string(options_.interactive_timeout.count()) +
                        " ms: " + embeddings.error().message);
    }
    return embeddings;
}

Result<std::vector<Embedding>> HttpEmbedder::embed_all(std::span<const std::string_view> texts,
                                                       TextRole role,
                                                       const CallLimits& limits) const {
    const std::string& prefix =
        role == TextRole::Query ? options_.query_prefix : options_.passage_prefix;
    std::vector<std::string> inputs;
    inputs.reserve(texts.size());
    for (const std::string_view text : texts) {
        if (const auto bad = core::find_invalid_utf8(text); bad != std::string_view::npos) {
            return invalid_argument("cannot embed a text that is not UTF-8 (at byte " +
                                    std::to_string(bad) + ")");
        }
        inputs.push_back(prefix + std::string(text));
        if (inputs.back().empty()) inputs.back() = " ";
    }

    std::vector<Embedding> embeddings;
    embeddings.reserve(texts.size());
    std::size_t batch = options_.max_batch;
    while (embeddings.size() < inputs.size()) {
        const Inputs rest = Inputs(inputs).subspan(embeddings.size());
        const Inputs part = rest.first(std::min(batch, rest.size()));
        BRAID_TRY(const net::HttpResponse response, post(part, limits));
        const bool too_much = response.status == 413 || response.status == 400;
        if (too_much && part.size() > 1) {
            batch = (part.size() + 1) / 2;
            continue;
        }
        if (response.status != 200) return tl::unexpected<Error>(refusal(response));
        BRAID_TRY(auto vectors,
                  parse_embedding_response(response.body, part.size(), options_.dimension));
        for (std::vector<float>& vector : vectors) {
            embeddings.push_back({.vector = std::move(vector)});
        }
    }
    return embeddings;
}

/// About four letters to a token in English, one character elsewhere.
std::size_t HttpEmbedder::count_tokens(std::string_view text) const {
    std::size_t ascii = 0;
    std::size_t others = 0;
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x80) {
            ++ascii;
        } else if (!core::continues_character(c)) {
            ++others;
        }
    }
    return (ascii + 3) / 4 + others;
}

}  // namespace

Result<std::shared_ptr<const Embedder>> make_http_embedder(const HttpEmbedderOptions& options) {
    BRAID_CHECK(check_options(options));
    if (options.dimension != 0) return std::make_shared<const HttpEmbedder>(options);

    const std::string_view probe = "probe";
    CallLimits limits;
    limits.interactive = true;
    BRAID_TRY(const auto answer,
              HttpEmbedder(options).embed(std::span(&probe, 1), TextRole::Passage, limits));
    HttpEmbedderOptions learnt = options;
    learnt.dimension = answer.front().vector.size();
    learnt.send_dimension = false;
    return std::make_shared<const HttpEmbedder>(learnt);
}

}  // namespace braid::embed
