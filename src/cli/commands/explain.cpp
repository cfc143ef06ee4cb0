#include <array>
#include <string>
#include <utility>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/request_flags.hpp"
#include "braid/cli/commands/search_notes.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/answer.hpp"
#include "braid/core/numbers.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/explain_json.hpp"

namespace braid::cli {
namespace {

constexpr auto kExplainFlags = std::to_array<FlagSpec>({
    {.name = "chunk", .kind = FlagKind::Text, .value = "ID", .help = "the chunk in question"},
});

Result<std::string> chunk_of(const Session& session) {
    auto chunk = session.arguments.text("chunk");
    if (!chunk) {
        return invalid_argument("\"" + std::string(session.arguments.command->name) +
                                "\" needs --chunk ID");
    }
    return *std::move(chunk);
}

/// Asks about the chunk and the question of the command line.
template <class Question>
Result<typename Question::Output> ask(const Session& session) {
    Question question;
    BRAID_TRY(question.chunk_id, chunk_of(session));
    BRAID_TRY(question.request, flags_request(session, session.arguments.joined_operands()));
    BRAID_TRY(const auto service, session.service_for_reading());
    return session.read(*service, std::move(question));
}

/// With a capital and a full stop.
std::string sentence(std::string text) {
    if (text.empty()) return text;
    if (text.front() >= 'a' && text.front() <= 'z') {
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    }
    return text.ends_with('.') ? text : text + ".";
}

void print_standing(Session& session, const Explanation& explanation) {
    for (const LegStanding& leg : explanation.legs) {
        std::string line = "  " + padded(leg.source, 6) + "  ";
        if (leg.rank) {
            line += "rank " + core::grouped(*leg.rank) + ", score " +
                    core::fixed(leg.score.value_or(0), 4) + ", searched " +
                    core::grouped(leg.depth) + " deep";
        } else {
            line += leg.score ? "not found" : "it has no vector";
        }
        session.out.line(line);
    }
    if (explanation.hit) {
        session.out.line("  fused   rank " + core::grouped(explanation.hit->rank) + ", score " +
                         core::fixed(explanation.hit->score, 4));
    }
    for (const std::string& line :
         other_words_lines(explanation.phrasings, explanation.hypothetical_answer)) {
        session.out.line("  " + line);
    }
    warn_of_search(session, explanation.warnings, explanation.unused);
}

Result<> run_explain(Session& session) {
    BRAID_TRY(const Explanation explanation, ask<service::ExplainRequest>(session));
    if (session.json()) {
        session.out.json(wire::explanation_to_value(explanation));
        return {};
    }
    session.out.line(plain(explanation.chunk_id) + " in \"" + explanation.collection + "\", " +
                     (explanation.shown ? "part of the answer." : "not part of the answer."));
    print_standing(session, explanation);
    return {};
}

Result<> run_why_not(Session& session) {
    BRAID_TRY(const WhyNot why, ask<service::WhyNotRequest>(session));
    if (session.json()) {
        session.out.json(wire::why_not_to_value(why));
        return {};
    }
    session.out.line(sentence(plain(why.reason)));
    print_standing(session, why.explanation);
    if (!why.change) return {};
    session.out.line("With \"" + why.change->key + "\": " + json::print(why.change->value) +
                     " it would be in the answer.");
    return {};
}

}  // namespace

const CommandSpec kExplainCommand{
    .name = "explain",
    .operands = "QUERY",
    .min_operands = 1,
    .max_operands = 1000,
    .summary = "show where a chunk ranks for a question",
    .details = R"(Shows its rank and score in each leg, however deep, and in the fused list.
Searches like "retrieve".

  braid explain "when do foxes hunt?" --chunk fox --collection wiki)",
    .flags = kExplainFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to search",
    .run = run_explain,
    .paged = true,
};

const CommandSpec kWhyNotCommand{
    .name = "why-not",
    .operands = "QUERY",
    .min_operands = 1,
    .max_operands = 1000,
    .summary = "say why a chunk is not in the answer",
    .details = R"(Names the step that lost it (filter, depth, threshold, stage, cut, ...) and the
smallest single change to the request that brings it in. The change has been
tried.

  braid why-not "when do foxes hunt?" --chunk oak -k 3 --collection wiki)",
    .flags = kExplainFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to search",
    .run = run_why_not,
    .paged = true,
};

}  // namespace braid::cli
