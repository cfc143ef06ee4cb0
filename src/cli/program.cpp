#include "braid/cli/program.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>

#include <unistd.h>

#include "braid/cli/args/arguments.hpp"
#include "braid/cli/args/help.hpp"
#include "braid/cli/commands/list.hpp"
#include "braid/cli/session.hpp"
#include "braid/cli/view/pager.hpp"
#include "braid/core/errand.hpp"
#include "braid/json/json.hpp"
#include "braid/wire/error_json.hpp"

namespace braid::cli {
namespace {

constexpr int kBrokenPipe = 141;  // what a shell reports for a program that SIGPIPE ended

std::optional<std::string> environment_variable(std::string_view name) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before threads start
    const char* const value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
}

/// Prints the error and returns its exit code.
int report(Output& out, const Error& error, bool as_json) {
    if (as_json) {
        out.note(json::print(wire::error_to_value(error)));
    } else {
        const Style& style = out.note_style();
        out.note(std::string(style.bold) + "braid:" + std::string(style.reset) + " " +
                 plain(error.message));
    }
    return error_facts(error.code).exit_code;
}

/// `help`, `help COMMAND`, `--help`, `--version`; nullopt if something else was asked for.
std::optional<int> answer_directly(const Arguments& arguments, Output& out) {
    if (arguments.has("version")) {
        out.line("braid " BRAID_VERSION);
        return 0;
    }
    if (!arguments.has("help")) return std::nullopt;
    if (arguments.command != nullptr) {
        out.text(command_help(*arguments.command, all_commands(), out.style()));
    } else if (!arguments.group.empty()) {
        out.text(group_help(arguments.group, all_commands(), out.style()));
    } else {
        out.text(overview(all_commands(), out.style()));
    }
    return 0;
}

/// Whether people are reading, on a terminal that can page.
bool wants_pager(const Arguments& arguments, const Output& out) {
    const bool reading =
        arguments.has("help") || (arguments.command != nullptr && arguments.command->paged);
    const auto terminal = environment_variable("TERM");
    return reading && out.on_terminal() && !arguments.has("json") && !arguments.has("no-pager") &&
           terminal && *terminal != "dumb";
}

/// The principal that --as names, in the configuration or in JSON; without it somebody who sees
/// everything.
Result<service::Visitor> visitor_of(const Arguments& arguments, const Settings& settings) {
    const auto who = arguments.text("as");
    if (!who) return service::Visitor{};
    if (arguments.command->whole_database) {
        return invalid_argument("--as cannot be used with \"" +
                                std::string(arguments.command->name) +
                                "\", which works on the whole database");
    }
    if (!who->starts_with('{')) return settings.visitor(*who);
    BRAID_TRY(const Value json, json::parse(*who));
    return service::visitor_from_value(json, "--as");
}

Result<> run_command(const Arguments& arguments, Output& out, Interrupts& interrupts) {
    BRAID_TRY(const Settings settings, Settings::load(SettingSources::of_process()));
    settings.export_to_environment();
    BRAID_TRY(const service::Visitor visitor, visitor_of(arguments, settings));
    Session session{arguments, settings, out, interrupts, visitor};
    for (const std::string& warning : settings.warnings()) session.warn(warning);
    return arguments.command->run(session);
}

int run_checked(const std::vector<std::string>& given) {
    const bool as_json = std::ranges::find(given, "--json") != given.end();
    const bool no_color = std::ranges::find(given, "--no-color") != given.end();
    Output out(!no_color);
    const auto arguments = parse_arguments(given, all_commands());
    if (!arguments) {
        const int code = report(out, arguments.error(), as_json);
        const auto named = std::ranges::find_if(given, [](const std::string& word) {
            return std::ranges::any_of(
                all_commands(), [&](const CommandSpec* command) { return command->name == word; });
        });
        if (!as_json) {
            out.note("Try \"braid help" + (named == given.end() ? "" : " " + *named) + "\".");
        }
        return code;
    }
    // Before threads start, and gone after everything else.
    std::optional<Pager> pager;
    if (wants_pager(*arguments, out)) pager.emplace(pager_command(environment_variable));
    Interrupts interrupts;
    if (pager) interrupts.wait_for(pager->process());
    int code = 0;
    if (const auto answered = answer_directly(*arguments, out)) {
        code = *answered;
    } else if (arguments->command == nullptr) {
        out.note(overview(all_commands(), out.note_style()));
        code = 2;
    } else if (auto done = run_command(*arguments, out, interrupts); !done) {
        out.flush();
        code = report(out, done.error(), as_json);
    }
    const auto finished = out.finish();
    if (!finished) return report(out, finished.error(), as_json);
    // Whoever leaves the pager has read enough.
    return code == 0 && out.broken_pipe() && !pager ? kBrokenPipe : code;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
    core::leave_errands_behind();
    int code = 1;
    try {
        code = run_checked(arguments);
    } catch (const std::bad_alloc&) {
        std::fputs("braid: out of memory\n", stderr);
    }
    if (core::errands_left()) {  // a model is still loading: nobody needs it any more
        std::fflush(nullptr);
        ::_exit(code);
    }
    return code;
}

}  // namespace braid::cli
