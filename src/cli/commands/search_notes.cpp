#include "braid/cli/commands/search_notes.hpp"

#include "braid/apps/vocabulary.hpp"
#include "braid/cli/view/answer.hpp"

namespace braid::cli {

void show_answer(const Session& session, const Answer& answer, bool explain) {
    if (session.json()) {
        print_answer_json(session.out, answer, apps::vocabulary());
        return;
    }
    AnswerViewOptions options;
    options.width = session.out.width();
    options.style = session.out.style();
    options.explain = explain;
    for (const std::string& line : answer_lines(answer, options)) session.out.line(line);
}

void warn_of_search(const Session& session, const std::vector<std::string>& warnings,
                    const std::vector<std::string>& unused) {
    for (const std::string& warning : warnings) session.warn(warning);
    if (const std::string line = unused_line(unused); !line.empty()) session.warn(line);
}

}  // namespace braid::cli
