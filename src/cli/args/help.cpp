#include "braid/cli/args/help.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "braid/cli/args/stage_notes.hpp"

namespace braid::cli {
namespace {

std::string title(const Style& style, std::string_view text) {
    return std::string(style.bold) + std::string(text) + std::string(style.reset) + "\n";
}

std::string flag_text(const FlagSpec& flag) {
    std::string text = flag.letter != 0 ? std::string{'-', flag.letter, ',', ' '} : "    ";
    text += "--" + std::string(flag.name);
    if (!flag.value.empty()) text += " " + std::string(flag.value);
    return text;
}

std::string flag_lines(std::span<const FlagSpec> flags) {
    std::size_t width = 0;
    for (const FlagSpec& flag : flags) width = std::max(width, flag_text(flag).size());
    std::string out;
    for (const FlagSpec& flag : flags) {
        out += "  " + padded(flag_text(flag), width) + "  " + std::string(flag.help) + "\n";
    }
    return out;
}

std::size_t name_width(std::span<const CommandSpec* const> commands) {
    std::size_t width = 0;
    for (const CommandSpec* command : commands) width = std::max(width, command->name.size());
    return width;
}

std::string command_line(const CommandSpec& command, std::size_t width) {
    return "  " + padded(command.name, width) + "  " + std::string(command.summary) + "\n";
}

std::string command_lines(std::span<const CommandSpec* const> commands) {
    std::string out;
    for (const CommandSpec* command : commands) {
        out += command_line(*command, name_width(commands));
    }
    return out;
}

/// Where a new group of commands begins, in the order of all commands.
constexpr auto kGroups = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"ingest", "Store and search"},
     {"get", "Single chunks"},
     {"collections", "Collections"},
     {"reembed", "Maintenance and backup"},
     {"serve", "Serve"},
     {"run", "Measure"},
     {"config show", "Set up"}});

std::string grouped_command_lines(std::span<const CommandSpec* const> commands,
                                  const Style& style) {
    const std::size_t width = name_width(commands);
    std::string out;
    for (const CommandSpec* command : commands) {
        const auto group = std::ranges::find(kGroups, command->name,
                                             &std::pair<std::string_view, std::string_view>::first);
        if (group != kGroups.end()) {
            out += (out.empty() ? "" : "\n") + title(style, group->second);
        }
        out += command_line(*command, width);
    }
    return out;
}

std::vector<const CommandSpec*> commands_below(std::string_view word,
                                               std::span<const CommandSpec* const> all) {
    std::vector<const CommandSpec*> below;
    const std::string start = std::string(word) + " ";
    for (const CommandSpec* command : all) {
        if (command->name.starts_with(start)) below.push_back(command);
    }
    return below;
}

/// What stands in the brackets of --stages, for commands that take it.
std::string stage_lines(const CommandSpec& command, const Style& style) {
    if (std::ranges::find(command.shared_flags, std::string_view("stages"), &FlagSpec::name) ==
        command.shared_flags.end()) {
        return {};
    }
    std::size_t width = 0;
    for (const StageNote& stage : stage_notes()) width = std::max(width, stage.name.size());
    std::string out = "\n" + title(style, "Stages for --stages '[\"NAME\", {\"NAME\": {...}}]'");
    for (const StageNote& stage : stage_notes()) {
        out += "  " + padded(stage.name, width) + "  " + std::string(stage.help) + "\n";
        if (stage.parameters.empty()) continue;
        out += "  " + std::string(width + 2, ' ') + std::string(stage.parameters) + "\n";
    }
    return out;
}

}  // namespace

std::string overview(std::span<const CommandSpec* const> commands, const Style& style) {
    std::string out = "braid finds the right passages for a question.\n\n";
    out += title(style, "Usage");
    out += "  braid [flags] COMMAND [operands] [flags]\n\n";
    out += grouped_command_lines(commands, style);
    out += "\n" + title(style, "Flags for every command") + flag_lines(global_flags());
    out +=
        "\nRun \"braid help COMMAND\" for more. Exit codes: 0 ok, 1 failed, 2 wrong usage,\n"
        "3 not found, 4 damaged data, 5 database in use, 130 interrupted.\n";
    return out;
}

std::string command_help(const CommandSpec& command, std::span<const CommandSpec* const> all,
                         const Style& style) {
    std::string out =
        title(style, "braid " + std::string(command.name) + (command.operands.empty() ? "" : " ") +
                         std::string(command.operands));
    out += "  " + std::string(command.summary) + "\n";
    if (const auto below = commands_below(command.name, all); !below.empty()) {
        out += "\n" + title(style, "More commands") + command_lines(below);
    }
    if (!command.flags.empty()) out += "\n" + title(style, "Flags") + flag_lines(command.flags);
    if (!command.shared_flags.empty()) {
        out += "\n" + title(style, command.shared_title) + flag_lines(command.shared_flags);
    }
    out += stage_lines(command, style);
    out += "\n" + title(style, "Flags for every command") + flag_lines(global_flags());
    if (!command.details.empty()) out += "\n" + std::string(command.details) + "\n";
    if (!command.former_name.empty()) {
        out += "\n\"braid " + std::string(command.former_name) +
               "\" is the former name of this command and still works.\n";
    }
    return out;
}

std::string group_help(std::string_view group, std::span<const CommandSpec* const> all,
                       const Style& style) {
    std::string out = title(style, "braid " + std::string(group) + " COMMAND");
    out += command_lines(commands_below(group, all));
    out += "\n" + title(style, "Flags for every command") + flag_lines(global_flags());
    return out + "\nRun \"braid help " + std::string(group) + " COMMAND\" for more.\n";
}

}  // namespace braid::cli
