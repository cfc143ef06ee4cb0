#include <array>
#include <string>

#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/request_flags.hpp"
#include "braid/cli/commands/search_notes.hpp"
#include "braid/cli/session.hpp"
#include "braid/core/numbers.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/request_json.hpp"

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

/// Asks the operation about the chunk and the question of the command line.
Result<Value> ask(const Session& session, std::string_view operation) {
    BRAID_TRY(const std::string chunk, chunk_of(session));
    BRAID_TRY(const Request request, flags_request(session, session.arguments.joined_operands()));
    BRAID_TRY(const auto service, session.service_for_reading());
    Value params = wire::request_to_value(request);
    params.as_object().set("chunk_id", Value(chunk));
    return session.read(*service, operation, std::move(params.as_object()));
}

/// With a capital and a full stop.
std::string sentence(std::string text) {
    if (text.empty()) return text;
    if (text.front() >= 'a' && text.front() <= 'z') {
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    }
    return text.ends_with('.') ? text : text + ".";
}

std::string score_of(const Value& place) {
    const Value* const score = place.find("score");
    return core::fixed(score != nullptr && score->is_number() ? score->as_double() : 0, 4);
}

void print_standing(Session& session, const Value& explanation) {
    for (const Value& leg : service::list_in(explanation, "legs")) {
        std::string line = "  " + padded(service::text_in(leg, "source"), 6) + "  ";
        const Value* const score = leg.find("score");
        if (const std::uint64_t rank = service::number_in(leg, "rank"); rank > 0) {
            line += "rank " + core::grouped(rank) + ", score " + score_of(leg) + ", searched " +
                    core::grouped(service::number_in(leg, "depth")) + " deep";
        } else {
            line += score != nullptr && !score->is_null() ? "not found" : "it has no vector";
        }
        session.out.line(line);
    }
    const Value* const hit = explanation.find("hit");
    if (hit != nullptr && hit->is_object()) {
        session.out.line("  fused   rank " + core::grouped(service::number_in(*hit, "rank")) +
                         ", score " + score_of(*hit));
    }
    for (const std::string& line : other_words_of(explanation)) session.out.line("  " + line);
    warn_of_search(session, explanation);
}

Result<> run_explain(Session& session) {
    BRAID_TRY(const Value explanation, ask(session, "explain"));
    if (session.json()) {
        session.out.json(explanation);
        return {};
    }
    session.out.line(plain(service::text_in(explanation, "chunk_id")) + " in \"" +
                     service::text_in(explanation, "collection") + "\", " +
                     (service::flag_in(explanation, "shown") ? "part of the answer."
                                                             : "not part of the answer."));
    print_standing(session, explanation);
    return {};
}

Result<> run_why_not(Session& session) {
    BRAID_TRY(const Value why, ask(session, "why_not"));
    if (session.json()) {
        session.out.json(why);
        return {};
    }
    session.out.line(sentence(plain(service::text_in(why, "reason"))));
    if (const Value* const explanation = why.find("explanation")) {
        print_standing(session, *explanation);
    }
    const Value* const change = why.find("change");
    if (change == nullptr || !change->is_object()) return {};
    const Value* const value = change->find("value");
    session.out.line("With \"" + service::text_in(*change, "key") + "\": " +
                     json::print(value != nullptr ? *value : Value()) + " it would be there.");
    return {};
}

}  // namespace

const CommandSpec kExplainCommand{
    .name = "explain",
    .operands = "QUERY",
    .min_operands = 1,
    .max_operands = 1000,
    .summary = "show where a chunk stands for a question",
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
smallest single change to the request that brings it in. The change was tried.

  braid why-not "when do foxes hunt?" --chunk oak -k 3 --collection wiki)",
    .flags = kExplainFlags,
    .shared_flags = request_flags(),
    .shared_title = "How to search",
    .run = run_why_not,
    .paged = true,
};

}  // namespace braid::cli
