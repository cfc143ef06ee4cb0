#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::llm {

/// What a model said: untrusted, but UTF-8 and not empty.
struct Completion {
    std::string text;
    bool cut = false;  // it had more to say than it was allowed to
};

/// The first choice in the body of an OpenAI-like answer. Corruption, with what is wrong, if there
/// is none or its text is missing, blank, or of a wrong type; Unavailable if the endpoint reports
/// an error; Unsupported if the model declines. Messages may repeat what the endpoint says, but
/// never `secret`.
Result<Completion> parse_chat_answer(std::string_view body, std::string_view secret);

/// An endpoint's own account of an error.
struct Complaint {
    std::string message;    // one harmless line, cut to size, without the secret; may be empty
    std::string parameter;  // of the request that was wrong; may be empty
};

/// nullopt if the body holds none. Understands OpenAI's form and those of common servers.
std::optional<Complaint> find_complaint(const Value& body, std::string_view secret);

}  // namespace braid::llm
