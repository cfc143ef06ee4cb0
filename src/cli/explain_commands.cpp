#include <array>
#include <string>

#include "braid/cli/commands.hpp"
#include "braid/cli/request_flags.hpp"
#include "braid/cli/session.hpp"
#include "braid/eval/numbers.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/explain_json.hpp"

namespace braid::cli {
namespace {

constexpr auto kFlags = std::to_array<FlagSpec>({
    {.name = "chunk", .kind = FlagKind::Text, .value = "ID", .help = "the chunk in question"},
});

Result<std::string> chunk_of(const Session& session) {
    auto chunk = session.arguments.text("chunk");
    if (!chunk) {
        return fail(ErrorCode::InvalidArgument,
                    "\"" + std::string(session.arguments.command->name) + "\" needs --chunk ID");
    }
    return *std::move(chunk);
}

Result<Request> request_of(const Session& session) {
    return flags_request(session.arguments, session.arguments.joined_operands(), kQuestionProfile);
}

void print_standing(Session& session, const Explanation& explanation) {
    for (const LegStanding& leg : explanation.legs) {
        std::string line = "  " + padded(leg.source, 6) + "  ";
        if (leg.rank) {
            line += "rank " + with_separators(*leg.rank) + ", score " +
                    eval::fixed(leg.score.value_or(0), 4) + ", searched " +
                    with_separators(leg.depth) + " deep";
        } else {
            line += leg.score ? "not found" : "it has no vector";
        }
        session.out.line(line);
    }
    if (explanation.hit) {
        session.out.line("  fused   rank " + with_separators(explanation.hit->rank) + ", score " +
                         eval::fixed(explanation.hit->score, 4));
    }
}

Result<> run_explain(Session& session) {
    BRAID_TRY(const std::string chunk, chunk_of(session));
    BRAID_TRY(const Request request, request_of(session));
    BRAID_TRY(const auto database, session.open_for_reading());
    BRAID_TRY(const Explanation explanation, database.explain(request, chunk));
    if (session.json()) {
        session.out.json(wire::explanation_to_value(explanation));
        return {};
    }
    session.out.line(plain(explanation.chunk_id) + " in \"" + explanation.collection + "\", " +
                     (explanation.shown ? "part of the answer" : "not part of the answer"));
    print_standing(session, explanation);
    return {};
}

Result<> run_why_not(Session& session) {
    BRAID_TRY(const std::string chunk, chunk_of(session));
    BRAID_TRY(const Request request, request_of(session));
    BRAID_TRY(const auto database, session.open_for_reading());
    BRAID_TRY(const WhyNot why, database.why_not(request, chunk));
    if (session.json()) {
        session.out.json(wire::why_not_to_value(why));
        return {};
    }
    session.out.line(plain(why.reason));
    print_standing(session, why.explanation);
    if (why.change) {
        session.out.line("With \"" + why.change->key + "\": " + json::print(why.change->value) +
                         " it would be there.");
    }
    return {};
}

}  // namespace

const CommandSpec kExplainCommand{
    .name = "explain",
    .operands = "QUERY",
    .min_operands = 1,
    .max_operands = 1000,
    .summary = "show where a chunk stands for a question",
    .details = R"(Ranks and scores in each leg, however deep, and in the fused list. Searches as
"retrieve" does.

  braid explain "when do foxes hunt?" --chunk fox --collection wiki)",
    .flags = kFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to search",
    .run = run_explain,
};

const CommandSpec kWhyNotCommand{
    .name = "why-not",
    .operands = "QUERY",
    .min_operands = 1,
    .max_operands = 1000,
    .summary = "say why a chunk is not in the answer",
    .details = R"(Names the step that lost it (filter, depth, threshold, stage, cut, ...) and the
smallest single change to the request that brings it in, which was tried.

  braid why-not "when do foxes hunt?" --chunk oak -k 3 --collection wiki)",
    .flags = kFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to search",
    .run = run_why_not,
};

}  // namespace braid::cli
