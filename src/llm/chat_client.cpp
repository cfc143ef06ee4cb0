#include "braid/llm/chat_client.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "braid/core/utf8.hpp"
#include "braid/json/json.hpp"
#include "braid/json/quote.hpp"
#include "braid/llm/plain_text.hpp"
#include "braid/net/client/http_client.hpp"
#include "braid/net/client/retry.hpp"
#include "braid/net/client/url.hpp"
#include "braid/value.hpp"

namespace braid::llm {
namespace {

constexpr std::string_view kDoing = "language model";
constexpr std::size_t kMostAnswerBytes = 1U << 20U;

net::HttpClientOptions client_options(const ChatOptions& options) {
    net::HttpClientOptions http;
    http.connect_timeout = options.connect_timeout;
    http.total_timeout = options.request_timeout;
    http.max_response_bytes = kMostAnswerBytes;
    http.proxy = options.proxy;
    http.allow_private = options.allow_private;
    http.offline = options.offline;
    return http;
}

Result<> check_options(const ChatOptions& options) {
    const auto bad = [](const std::string& what) {
        return invalid_argument(std::string(kDoing) + ": " + what);
    };
    if (options.model.empty()) return bad("model is empty");
    if (options.max_attempts < 1) return bad("max_attempts must be 1 or more");
    if (!net::is_sendable_key(options.api_key)) {
        return bad("the API key holds characters that cannot be sent");
    }
    if (auto url = net::parse_url(options.base_url); !url) {
        return fail(std::string(kDoing) + ", base_url", std::move(url).error());
    }
    return {};
}

/// Which words an endpoint understands; newer models refuse some that older ones need.
struct Dialect {
    bool completion_tokens = false;  // "max_completion_tokens" instead of "max_tokens"
    bool no_temperature = false;

    friend bool operator==(const Dialect&, const Dialect&) = default;
};

/// What the endpoint's complaint about a request asks for instead.
Dialect corrected(Dialect used, const Complaint& complaint) {
    if (complaint.parameter == "max_tokens" ||
        complaint.message.find("max_completion_tokens") != std::string::npos) {
        used.completion_tokens = true;
    }
    if (complaint.parameter == "temperature") used.no_temperature = true;
    return used;
}

}  // namespace

struct ChatClient::State {
    explicit State(ChatOptions given)
        : options(std::move(given)),
          url(net::with_path(options.base_url, "/chat/completions")),
          client(client_options(options)) {}

    std::string request_body(const Prompt& prompt, std::size_t max_tokens, Dialect how) const;
    Result<net::HttpResponse> post(std::string body, const CallLimits& limits) const;
    Error refusal(int status, const Complaint& complaint) const;

    const ChatOptions options;
    const std::string url;
    const net::HttpClient client;
    std::atomic<Dialect> dialect{};
};

std::string ChatClient::State::request_body(const Prompt& prompt, std::size_t max_tokens,
                                            Dialect how) const {
    std::string data;
    for (const QuotedText& part : prompt.data) {
        if (!data.empty()) data += '\n';
        data += part.name;
        data += ": ";
        json::append_quoted(data, part.text);
    }
    if (!prompt.closing.empty()) (data += "\n\n") += prompt.closing;
    Object request{{"model", options.model},
                   {"messages", Array{Object{{"role", "system"}, {"content", prompt.instruction}},
                                      Object{{"role", "user"}, {"content", std::move(data)}}}},
                   {how.completion_tokens ? "max_completion_tokens" : "max_tokens", max_tokens},
                   {"stream", false}};
    if (!how.no_temperature) request.set("temperature", 0);
    return json::print(std::move(request));
}

Result<net::HttpResponse> ChatClient::State::post(std::string body,
                                                  const CallLimits& limits) const {
    net::HttpRequest request{
        .method = "POST",
        .url = url,
        .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
        .body = std::move(body)};
    if (!options.api_key.empty()) {
        request.headers.push_back({"Authorization", "Bearer " + options.api_key});
    }
    if (!limits.traceparent.empty()) request.headers.push_back({"traceparent", limits.traceparent});
    return net::send_with_retries(client, request,
                                  {.max_attempts = options.max_attempts,
                                   .first_backoff = options.first_backoff,
                                   .max_backoff = options.max_backoff,
                                   .max_retry_after = options.max_retry_after},
                                  limits);
}

Error ChatClient::State::refusal(int status, const Complaint& complaint) const {
    std::string message = std::string(kDoing) + ": status " + std::to_string(status);
    if (status == 401 || status == 403) {
        return {ErrorCode::PermissionDenied, message + " (is the API key right?)"};
    }
    if (!complaint.message.empty()) message += ": " + complaint.message;
    return {status >= 400 && status < 500 ? ErrorCode::InvalidArgument : ErrorCode::Unavailable,
            std::move(message)};
}

ChatClient::ChatClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
ChatClient::~ChatClient() = default;
ChatClient::ChatClient(ChatClient&&) noexcept = default;
ChatClient& ChatClient::operator=(ChatClient&&) noexcept = default;

Result<ChatClient> ChatClient::make(ChatOptions options) {
    BRAID_CHECK(check_options(options));
    return ChatClient(std::make_unique<State>(std::move(options)));
}

Result<Completion> ChatClient::complete(const Prompt& prompt, std::size_t max_tokens,
                                        const CallLimits& limits) const {
    for (const QuotedText& part : prompt.data) {
        if (const auto bad = core::find_invalid_utf8(part.text); bad != std::string_view::npos) {
            return invalid_argument(std::string(kDoing) + ": the text " + json::quoted(part.name) +
                                    " is not UTF-8 (at byte " + std::to_string(bad) + ")");
        }
    }
    while (true) {
        const Dialect used = state_->dialect;
        auto response = state_->post(state_->request_body(prompt, max_tokens, used), limits);
        if (!response) return fail(kDoing, std::move(response).error());
        const std::string& key = state_->options.api_key;
        if (response->status == 200) {
            auto completion = parse_chat_answer(response->body, key);
            if (!completion) return fail(kDoing, std::move(completion).error());
            return completion;
        }
        const auto body = json::parse(response->body);
        const auto complaint = body ? find_complaint(*body, key) : std::nullopt;
        // A correction only ever adds to the dialect, so this comes to an end.
        const Dialect wanted = complaint ? corrected(used, *complaint) : used;
        if (response->status == 400 && wanted != used) {
            state_->dialect = wanted;
            continue;
        }
        return tl::unexpected<Error>(
            state_->refusal(response->status, complaint.value_or(Complaint{})));
    }
}

const std::string& ChatClient::model() const noexcept {
    return state_->options.model;
}

}  // namespace braid::llm
