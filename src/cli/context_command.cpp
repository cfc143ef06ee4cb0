#include <array>
#include <string>

#include "braid/cli/commands.hpp"
#include "braid/cli/request_flags.hpp"
#include "braid/cli/session.hpp"
#include "braid/wire/context_json.hpp"

namespace braid::cli {
namespace {

constexpr std::int64_t kDefaultBudget = 2000;
constexpr std::int64_t kMaxBudget = 10'000'000;

constexpr auto kFlags = std::to_array<FlagSpec>({
    {.name = "budget",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "tokens the text may have (default: 2000)"},
});

Result<> run_context(Session& session) {
    const Arguments& arguments = session.arguments;
    BRAID_TRY(const auto budget, arguments.integer("budget", 1, kMaxBudget));
    BRAID_TRY(const Request request,
              flags_request(arguments, arguments.joined_operands(), "default"));
    BRAID_TRY(const auto database, session.open_for_reading());
    BRAID_TRY(const Context context,
              database.context(request, static_cast<std::size_t>(budget.value_or(kDefaultBudget))));
    if (session.json()) {
        session.out.json(wire::context_to_value(context));
        return {};
    }
    for (const std::string& warning : context.warnings) session.warn(warning);
    if (context.passages.empty()) {
        session.note("no passages");
        return {};
    }
    session.out.text(context.text);
    session.note(std::to_string(context.passages.size()) + " passages, " +
                 with_separators(context.tokens) + " of " + with_separators(context.budget) +
                 (context.tokens_estimated ? " tokens (estimated)" : " tokens") +
                 (context.left_out > 0
                      ? "; " + std::to_string(context.left_out) + " hits did not fit"
                      : ""));
    return {};
}

}  // namespace

const CommandSpec kContextCommand{
    .name = "context",
    .operands = "QUERY",
    .min_operands = 1,
    .max_operands = 1000,
    .summary = "collect the passages for a prompt, within a token budget",
    .details = R"(Prints the best passages that fit, each under a marker to cite it by. Chunks
that follow each other become one passage; a document's passages stay together,
in its order. Tokens are counted as the collection's embedder does.

  braid context "when do foxes hunt?" --collection wiki --budget 1000
  braid context "fox" --expand-neighbors 1 --json)",
    .flags = kFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to search",
    .run = run_context,
};

}  // namespace braid::cli
