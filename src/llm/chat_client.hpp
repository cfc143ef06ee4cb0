#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "braid/llm/chat_answer.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::llm {

/// An endpoint that answers like OpenAI's `POST {base_url}/chat/completions`.
struct ChatOptions {
    std::string base_url = "https://api.openai.com/v1";
    std::string api_key;  // sent as a bearer token if set; never part of an error or a log
    std::string model = "gpt-4o-mini";
    /// Of one call; answers 429 and 5xx and broken connections are tried again, after `Retry-After`
    /// or an exponential back-off with jitter.
    std::size_t max_attempts = 3;
    std::chrono::milliseconds first_backoff{250};
    std::chrono::milliseconds max_backoff{4'000};
    /// An endpoint that asks for more patience than this is given up on.
    std::chrono::milliseconds max_retry_after{10'000};
    std::chrono::milliseconds connect_timeout{5'000};
    std::chrono::milliseconds request_timeout{20'000};  // of one attempt
    std::string proxy;                                  // empty: direct
    /// Off: endpoints on loopback, private and link-local addresses are refused.
    bool allow_private = true;
    /// On: every call fails with PermissionDenied and nothing is sent.
    bool offline = false;
};

/// Text that the instruction speaks about: a query, a passage.
struct QuotedText {
    std::string_view name;  // "Query"; our own word, one line
    std::string_view text;  // anybody's
};

/// What a model is asked. `instruction` holds our own words only and is sent as the system message;
/// `data` is sent as the user message, one line `name: "text"` each, the text as a JSON string: it
/// can neither end its quotes nor pass for an instruction of ours. `closing`, if there is one,
/// follows after a blank line.
struct Prompt {
    std::string_view instruction;
    std::vector<QuotedText> data;
    std::string_view closing{};
};

/// Asks a chat endpoint. Safe for concurrent use.
class ChatClient {
public:
    /// InvalidArgument for options that cannot work. Sends nothing.
    static Result<ChatClient> make(ChatOptions options);

    ~ChatClient();
    ChatClient(ChatClient&&) noexcept;
    ChatClient& operator=(ChatClient&&) noexcept;
    ChatClient(const ChatClient&) = delete;
    ChatClient& operator=(const ChatClient&) = delete;

    /// The reply, of `max_tokens` tokens at most, at temperature 0. An endpoint that refuses
    /// `max_tokens` or the temperature is asked again in the way it wants, from then on at once.
    ///
    /// Unavailable once attempts are used up; DeadlineExceeded rather than a wait past the
    /// deadline; Cancelled; PermissionDenied (offline, 401, 403); InvalidArgument (other 4xx, data
    /// that is not UTF-8); Unsupported (the model declines); ResourceExhausted (an answer of more
    /// than 1 MiB); Corruption (an answer that breaks the contract).
    Result<Completion> complete(const Prompt& prompt, std::size_t max_tokens,
                                const CallLimits& limits) const;

    const std::string& model() const noexcept;

private:
    struct State;
    explicit ChatClient(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

}  // namespace braid::llm
