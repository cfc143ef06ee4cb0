#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "braid/json/json.hpp"
#include "braid/llm/chat_client.hpp"
#include "net/http_test_server.hpp"
#include "net/test_answers.hpp"

namespace braid::llm {

inline constexpr std::string_view kTestKey = "sk-very-secret-0123456789";

/// The body a truthful endpoint sends.
inline std::string chat_body(std::string_view text, std::string_view finish_reason = "stop") {
    return json::print(Object{
        {"id", "chatcmpl-1"},
        {"object", "chat.completion"},
        {"choices",
         Array{Object{
             {"index", 0},
             {"message", Object{{"role", "assistant"}, {"content", text}, {"refusal", nullptr}}},
             {"finish_reason", finish_reason}}}},
        {"usage", Object{{"total_tokens", 9}}}});
}

using net::replying;
using net::silent;

/// The content of the request's message of that role.
inline std::string message_in(const net::ReceivedRequest& request, std::string_view role) {
    const auto body = json::parse(request.body);
    if (!body || body->find("messages") == nullptr) return {};
    for (const Value& message : body->find("messages")->as_array()) {
        if (message.find("role")->as_string() == role) return message.find("content")->as_string();
    }
    return {};
}

inline ChatOptions options_for(const net::HttpTestServer& server) {
    ChatOptions options;
    options.base_url = server.url("/v1");
    options.api_key = kTestKey;
    options.model = "test-model";
    options.first_backoff = std::chrono::milliseconds(1);
    options.max_backoff = std::chrono::milliseconds(2);
    return options;
}

}  // namespace braid::llm
