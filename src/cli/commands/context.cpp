#include <array>
#include <string>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/request_flags.hpp"
#include "braid/cli/commands/search_notes.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"
#include "braid/wire/request_json.hpp"

namespace braid::cli {
namespace {

constexpr std::int64_t kDefaultBudget = 2000;
constexpr std::int64_t kMaxBudget = 1'000'000;

constexpr auto kContextFlags = std::to_array<FlagSpec>({
    {.name = "budget",
     .kind = FlagKind::Integer,
     .value = "N",
     .help = "token budget (default: 2000)"},
});

Result<> run_context(Session& session) {
    const Arguments& arguments = session.arguments;
    BRAID_TRY(const auto budget, arguments.integer("budget", 1, kMaxBudget));
    BRAID_TRY(const Request request, flags_request(session, arguments.joined_operands()));
    BRAID_TRY(const auto service, session.service_for_reading());
    Value params = wire::request_to_value(request);
    params.as_object().set("budget", budget.value_or(kDefaultBudget));
    BRAID_TRY(const Value context,
              session.read(*service, "context", std::move(params.as_object())));
    if (session.json()) {
        session.out.json(context);
        return {};
    }
    for (const std::string& line : other_words_of(context)) session.note(line);
    warn_of_search(session, context);
    const std::size_t passages = service::list_in(context, "passages").size();
    if (passages == 0) {
        session.note("No passages.");
        return {};
    }
    session.out.text(service::text_in(context, "text"));
    const std::uint64_t left_out = service::number_in(context, "left_out");
    session.note(
        core::count_of(passages, "passage", "passages") + ", " +
        core::grouped(service::number_in(context, "tokens")) + " of " +
        core::grouped(service::number_in(context, "budget")) +
        (service::flag_in(context, "tokens_estimated") ? " tokens (estimated)" : " tokens") +
        (left_out > 0 ? "; " + core::count_of(left_out, "hit", "hits") + " did not fit." : "."));
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
