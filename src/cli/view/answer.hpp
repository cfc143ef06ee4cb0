#pragma once

#include <optional>
#include <string>
#include <vector>

#include "braid/answer.hpp"
#include "braid/cli/view/output.hpp"
#include "braid/cli/view/terminal.hpp"

namespace braid::core {
struct Vocabulary;
}

namespace braid::cli {

struct AnswerViewOptions {
    std::size_t width = 80;
    Style style{};
    bool explain = false;  // the arithmetic of every score
};

/// An answer as people read it: per hit the rank, title and section, score, the legs that found it
/// and at which rank, and a snippet with its matches marked; then what was searched and how
/// long it took, warnings and shortfalls.
std::vector<std::string> answer_lines(const Answer& answer, const AnswerViewOptions& options);

/// The JSON answer: one line, on a terminal several.
void print_answer_json(Output& out, const Answer& answer, const core::Vocabulary& vocabulary);

/// What a language model made of the query, in at most two lines.
std::vector<std::string> other_words_lines(const std::vector<std::string>& phrasings,
                                           const std::optional<std::string>& hypothetical_answer);

/// Names keys of the request that had no effect; empty if all had.
std::string unused_line(const std::vector<std::string>& unused);

}  // namespace braid::cli
