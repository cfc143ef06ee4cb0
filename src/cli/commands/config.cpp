#include <array>
#include <string>

#include "braid/apps/vocabulary.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/config/trust.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/table.hpp"
#include "braid/wire/profile_json.hpp"

namespace braid::cli {
namespace {

constexpr auto kConfigFlags = std::to_array<FlagSpec>({
    {.name = "origin", .help = "show where each value came from"},
});

std::string where_from(const Settings& settings, const Setting& value) {
    std::string text = value.origin;
    if (value.source == SettingSource::EnvFile && settings.env_trusted()) {
        text += " of a trusted directory";
    }
    return text + (value.variable.empty() ? "" : ", " + value.variable);
}

Setting shown(const Session& session, const Setting& setting) {
    Setting out = setting;
    if (setting.spec->secret && !setting.value.empty()) out.value = "(set)";
    if (setting.spec->name == "data" && session.arguments.has("data")) {
        out.value = session.data();
        out.origin = "flag --data";
        out.variable.clear();
        out.source = SettingSource::Environment;
    }
    return out;
}

constexpr auto kTrustFlags = std::to_array<FlagSpec>({
    {.name = "remove", .help = "stop trusting it"},
    {.name = "list", .help = "list the trusted directories"},
});

Result<> list_trusted(Session& session, const std::filesystem::path& list) {
    BRAID_TRY(const auto directories, trusted_directories(list));
    if (session.json()) {
        session.out.json(Object{{"directories", Array(directories.begin(), directories.end())}});
        return {};
    }
    for (const std::string& directory : directories) session.out.line(plain(directory));
    if (directories.empty()) session.note("no directory is trusted");
    return {};
}

Result<> run_config_trust(Session& session) {
    const Arguments& arguments = session.arguments;
    const std::filesystem::path list = SettingSources::of_process().trust_file;
    if (arguments.has("list")) return list_trusted(session, list);
    const bool trusted = !arguments.has("remove");
    const std::string given = arguments.operands.empty() ? "." : arguments.operands.front();
    auto directory = directory_name(given);
    // A directory that no longer exists can still be taken off the list.
    if (!directory && trusted) return tl::unexpected<Error>(std::move(directory).error());
    const std::string name = directory.value_or(given);
    BRAID_TRY(const bool changed, set_trusted(list, name, trusted));
    if (session.json()) {
        session.out.json(
            Object{{"directory", Value(name)}, {"trusted", trusted}, {"changed", changed}});
        return {};
    }
    session.out.line(plain(name) + (changed ? " is " : " was ") +
                     (trusted ? "trusted: its .env may set everything."
                              : "not trusted: its .env may only say how to rank."));
    return {};
}

void print_json(Session& session) {
    Array settings;
    for (const Setting& setting : session.settings.all()) {
        const Setting value = shown(session, setting);
        settings.emplace_back(Object{{"name", setting.spec->name},
                                     {"value", Value(value.value)},
                                     {"origin", Value(value.origin)},
                                     {"variable", setting.spec->variable},
                                     {"help", setting.spec->help}});
    }
    Object profiles;
    for (const Profile& profile : core::known_profiles(apps::vocabulary())) {
        profiles.set(profile.name, wire::profile_to_value(profile));
    }
    for (const Profile& profile : session.settings.profiles()) {
        profiles.set(profile.name, wire::profile_to_value(profile));
    }
    session.out.json(Object{{"settings", std::move(settings)}, {"profiles", std::move(profiles)}});
}

Result<> run_config_show(Session& session) {
    if (session.json()) {
        print_json(session);
        return {};
    }
    const bool origin = session.arguments.has("origin");
    std::vector<Table::Column> columns{{"setting", false, true}, {"value", false, true}};
    if (origin) columns.push_back({"origin", false, true});
    Table table(columns);
    for (const Setting& setting : session.settings.all()) {
        const Setting value = shown(session, setting);
        std::vector<std::string> row{std::string(setting.spec->name), plain(value.value)};
        if (origin) {
            row.push_back(where_from(session.settings, value));
        }
        table.add(std::move(row));
    }
    table.print(session.out);
    return {};
}

}  // namespace

const CommandSpec kConfigShowCommand{
    .name = "config show",
    .operands = "",
    .summary = "show the configuration",
    .details = R"(Precedence: flags, the environment, .env in the current directory,
$XDG_CONFIG_HOME/braid/config.json, defaults. A .env in a directory that is not
trusted may say how to rank, not what is sent where: see "braid help config
trust". A key is sent only to an address that comes from its own source or one
below it, and OPENAI_API_KEY only to OpenAI.

--as WHO, for every command, is a name from config.json or an object like these:
  "principals": {"ann": {"clearance": "normal", "scopes": ["sales"]},
                 "acme": {"namespaces": ["acme", "acme-*"]}})",
    .flags = kConfigFlags,
    .run = run_config_show,
    .paged = true,
};

const CommandSpec kConfigTrustCommand{
    .name = "config trust",
    .operands = "[DIR]",
    .max_operands = 1,
    .summary = "let a directory's .env set everything",
    .details = R"(A .env that came with a directory from elsewhere could send texts and keys to
an address of its choice. So a .env in a directory that is not trusted sets only
the profile, RETRIEVAL_*, RRF_CONSTANT,
OVERFETCH_MULTIPLIER, MAX_HYBRID_SEARCH_RESULTS, BRAID_TOKEN_LIMIT, BRAID_CPU, a
BRAID_DATA below it, a BRAID_EMBEDDER that runs here, and BRAID_OFFLINE=true.
The rest is ignored with a warning. DIR is the current directory unless given;
the list is $XDG_CONFIG_HOME/braid/trusted.json.

  braid config trust
  braid config trust ~/project --remove)",
    .flags = kTrustFlags,
    .run = run_config_trust,
};

}  // namespace braid::cli
