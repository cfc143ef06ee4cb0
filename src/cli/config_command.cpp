#include <array>
#include <string>

#include "braid/cli/commands.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/table.hpp"
#include "braid/wire/profile_json.hpp"

namespace braid::cli {
namespace {

constexpr auto kConfigFlags = std::to_array<FlagSpec>({
    {.name = "origin", .help = "show where each value came from"},
});

Setting shown(const Session& session, const Setting& setting) {
    Setting out = setting;
    if (setting.spec->secret && !setting.value.empty()) out.value = "(set)";
    if (setting.spec->name == "data" && session.arguments.has("data")) {
        out.value = session.data();
        out.origin = "flag --data";
        out.variable.clear();
    }
    return out;
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
    for (const Profile& profile : builtin_profiles()) {
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
            row.push_back(value.origin + (value.variable.empty() ? "" : ", " + value.variable));
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
    .details = R"(A flag stands above the environment, that above .env in the current directory,
that above $XDG_CONFIG_HOME/braid/config.json, that above the default.)",
    .flags = kConfigFlags,
    .run = run_config_show,
};

}  // namespace braid::cli
