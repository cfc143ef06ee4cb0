#include "braid/llm/chat_answer.hpp"

#include <utility>

#include "braid/json/json.hpp"
#include "braid/llm/plain_text.hpp"

namespace braid::llm {
namespace {

constexpr std::size_t kMostMessageBytes = 300;
constexpr std::string_view kMask = "[key]";  // stands for the secret

tl::unexpected<Error> broken(std::string what) {
    return fail(ErrorCode::Corruption, "the endpoint's answer: " + std::move(what));
}

/// A foreign message as part of ours. Masked before it is cut: no part of the secret may remain.
std::string quotable(std::string text, std::string_view secret) {
    for (std::size_t at = 0; !secret.empty() && (at = text.find(secret, at)) != std::string::npos;
         at += kMask.size()) {
        text.replace(at, secret.size(), kMask);
    }
    return harmless_line(text, kMostMessageBytes);
}

const Value* string_member(const Value& object, std::string_view key) {
    const Value* const member = object.find(key);
    return member != nullptr && member->is_string() ? member : nullptr;
}

/// The text of a message: a string, or a list of parts of which some are text.
Result<std::string> content_of(const Value& message) {
    const Value* const content = message.find("content");
    if (content == nullptr || content->is_null()) return broken("the message has no content");
    if (content->is_string()) return content->as_string();
    if (!content->is_array()) {
        return broken("the content is not text (" + std::string(content->type_name()) + ")");
    }
    std::string text;
    for (const Value& part : content->as_array()) {
        if (const Value* const piece = string_member(part, "text")) text += piece->as_string();
    }
    return text;
}

}  // namespace

std::optional<Complaint> find_complaint(const Value& body, std::string_view secret) {
    const auto complaint = [&](const Value* message, const Value* parameter) {
        return Complaint{
            .message = message != nullptr ? quotable(message->as_string(), secret) : "",
            .parameter = parameter != nullptr ? quotable(parameter->as_string(), secret) : ""};
    };
    if (const Value* const error = body.find("error"); error != nullptr && !error->is_null()) {
        if (error->is_string()) return complaint(error, nullptr);
        return complaint(string_member(*error, "message"), string_member(*error, "param"));
    }
    for (const std::string_view key : {"message", "detail"}) {
        if (const Value* const message = string_member(body, key)) {
            return complaint(message, string_member(body, "param"));
        }
    }
    return std::nullopt;
}

Result<Completion> parse_chat_answer(std::string_view body, std::string_view secret) {
    const auto parsed = json::parse(body, {.max_bytes = body.size()});
    if (!parsed) return broken("not JSON: " + quotable(parsed.error().message, secret));
    const Value* const choices = parsed->find("choices");
    if (choices == nullptr) {
        if (const auto complaint = find_complaint(*parsed, secret)) {
            return fail(ErrorCode::Unavailable,
                        "the endpoint reports an error: " + complaint->message);
        }
        return broken("it has no 'choices'");
    }
    if (!choices->is_array()) return broken("'choices' is not a list");
    if (choices->as_array().empty()) return broken("'choices' is empty");
    const Value& choice = choices->as_array().front();
    const Value* const message = choice.find("message");
    if (message == nullptr || !message->is_object()) {
        return broken("the first choice has no message");
    }
    if (const Value* const refusal = string_member(*message, "refusal");
        refusal != nullptr && !refusal->as_string().empty()) {
        return fail(ErrorCode::Unsupported,
                    "the model declined: " + quotable(refusal->as_string(), secret));
    }
    const Value* const reason = string_member(choice, "finish_reason");
    if (reason != nullptr && reason->as_string() == "content_filter") {
        return fail(ErrorCode::Unsupported, "the endpoint withheld the reply (content_filter)");
    }
    Completion completion;
    completion.cut = reason != nullptr && reason->as_string() == "length";
    BRAID_TRY(completion.text, content_of(*message));
    if (harmless_lines(completion.text).empty()) {
        return broken(completion.cut ? "the reply is blank: it was cut off before it began"
                                     : "the reply is blank");
    }
    return completion;
}

}  // namespace braid::llm
