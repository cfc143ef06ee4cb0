#include <array>
#include <string>
#include <utility>

#include "braid/apps/vocabulary.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/commands/request_flags.hpp"
#include "braid/cli/commands/search_notes.hpp"
#include "braid/cli/session.hpp"
#include "braid/wire/request_json.hpp"

namespace braid::cli {
namespace {

constexpr auto kDoctrineFlags = std::to_array<FlagSpec>({
    kMosCodeFlag,
    {.name = "collection",
     .kind = FlagKind::Text,
     .value = "NAME",
     .help = "the collection (default: default)",
     .key = "collection"},
});

Result<> run_doctrine(Session& session) {
    BRAID_TRY(Object params, session.arguments.keyed_values(kDoctrineFlags));
    params.set("query", session.arguments.joined_operands());
    params.set("profile", "doctrine");
    BRAID_TRY(const auto service, session.service_for_reading());
    BRAID_TRY(const Request request,
              wire::request_from_value(std::move(params), apps::vocabulary()));
    BRAID_TRY(const Answer answer, service->retrieve(request));
    show_answer(session, answer, false);
    return {};
}

}  // namespace

const CommandSpec kDoctrineCommand{
    .name = "doctrine",
    .operands = "MISSION",
    .min_operands = 1,
    .max_operands = 1000,
    .summary = "find doctrine for a mission",
    .details = R"(Uses the profile "doctrine": the namespace arcnet_doctrine, dense weight 0.6,
ten hits. With --mos-code, only paragraphs with one of the codes.

  braid doctrine "cross a river at night" --mos-code 12B --mos-code 12C)",
    .flags = kDoctrineFlags,
    .run = run_doctrine,
};

}  // namespace braid::cli
