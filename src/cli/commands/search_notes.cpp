#include "braid/cli/commands/search_notes.hpp"

#include <optional>

#include "braid/cli/view/answer.hpp"

namespace braid::cli {
namespace {

std::vector<std::string> strings_in(const Value& result, std::string_view key) {
    std::vector<std::string> strings;
    for (const Value& item : service::list_in(result, key)) {
        if (item.is_string()) strings.push_back(item.as_string());
    }
    return strings;
}

}  // namespace

std::vector<std::string> other_words_of(const Value& result) {
    const Value* const answer = result.find("hypothetical_answer");
    return other_words_lines(strings_in(result, "phrasings"),
                             answer != nullptr && answer->is_string()
                                 ? std::optional(answer->as_string())
                                 : std::nullopt);
}

void warn_of_search(const Session& session, const Value& result) {
    for (const std::string& warning : strings_in(result, "warnings")) session.warn(warning);
    const std::string unused = unused_line(strings_in(result, "unused"));
    if (!unused.empty()) session.warn(unused);
}

}  // namespace braid::cli
