#include <array>
#include <string>
#include <utility>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/request_flags.hpp"
#include "braid/cli/commands/search_notes.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/answer.hpp"
#include "braid/core/numbers.hpp"
#include "braid/wire/context_json.hpp"

namespace braid::cli {
namespace {

constexpr auto kContextFlags = std::to_array<FlagSpec>({
    {.name = "budget",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "token budget (default: 2000)"},
});

Result<> run_context(Session& session) {
    const Arguments& arguments = session.arguments;
    service::ContextRequest wanted;
    BRAID_TRY(const auto budget,
              arguments.integer("budget", 1, service::ContextRequest::kMaxBudget));
    if (budget) wanted.budget = static_cast<std::size_t>(*budget);
    BRAID_TRY(wanted.request, flags_request(session, arguments.joined_operands()));
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const Context context, session.read(*service, std::move(wanted)));
    if (session.json()) {
        session.out.json(wire::context_to_value(context));
        return {};
    }
    for (const std::string& line :
         other_words_lines(context.phrasings, context.hypothetical_answer)) {
        session.note(line);
    }
    warn_of_search(session, context.warnings, context.unused);
    if (context.passages.empty()) {
        session.note("No passages.");
        return {};
    }
    session.out.text(context.text);
    session.note(core::count_of(context.passages.size(), "passage", "passages") + ", " +
                 core::grouped(context.tokens) + " of " + core::grouped(context.budget) +
                 (context.tokens_estimated ? " tokens (estimated)" : " tokens") +
                 (context.left_out > 0
                      ? "; " + core::count_of(context.left_out, "hit", "hits") + " did not fit."
                      : "."));
    return {};
}

}  // namespace

const CommandSpec kContextCommand{
    .name = "context",
    .operands = "QUERY",
    .min_operands = 1,
    .max_operands = 1000,
    .summary = "collect the passages for a prompt, within a token budget",
    .details = R"(Prints the best passages that fit, each under a marker to cite it by. Adjacent
chunks become one passage; passages of a document stay together, in document
order. Tokens are counted by the collection's embedder.

  braid context "when do foxes hunt?" --collection wiki --budget 1000
  braid context "fox" --expand-neighbors 1 --json)",
    .flags = kContextFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to search",
    .run = run_context,
    .paged = true,
};

}  // namespace braid::cli
