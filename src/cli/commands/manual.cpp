#include "braid/cli/commands/manual.hpp"

#include <string_view>

#include "braid/cli/config/settings.hpp"

namespace braid::cli {
namespace {

/// Text escaped for roff: no character is taken as a command.
std::string roff(std::string_view text) {
    std::string out;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
        line_start = c == '\n';
    }
    return out;
}

std::string bold(std::string_view text) {
    return "\\fB" + roff(text) + "\\fR";
}

std::string italic(std::string_view text) {
    return "\\fI" + roff(text) + "\\fR";
}

std::string flag_entries(std::span<const FlagSpec> flags) {
    std::string out;
    for (const FlagSpec& flag : flags) {
        out += ".TP\n";
        if (flag.letter != 0) out += bold(std::string{'-', flag.letter}) + ", ";
        out += bold("--" + std::string(flag.name));
        if (!flag.value.empty()) out += " " + italic(flag.value);
        out += "\n" + roff(flag.help) + "\n";
    }
    return out;
}

/// Lines that are indented are examples and keep their breaks.
std::string detail_lines(std::string_view details) {
    std::string out;
    bool example = false;
    while (!details.empty()) {
        const std::size_t end = details.find('\n');
        const std::string_view line = details.substr(0, end);
        details = end == std::string_view::npos ? std::string_view() : details.substr(end + 1);
        const bool indented = line.starts_with("  ");
        if (indented != example && !line.empty()) {
            out += indented ? ".PP\n.nf\n" : ".fi\n.PP\n";
            example = indented;
        }
        out += line.empty() ? (example ? "\n" : ".PP\n") : roff(line) + "\n";
    }
    return out + (example ? ".fi\n" : "");
}

}  // namespace

std::string manual_page(std::span<const CommandSpec* const> commands) {
    std::string out =
        ".TH BRAID 1 \"\" \"braid " BRAID_VERSION
        "\" \"User Commands\"\n.SH NAME\nbraid \\- finds the right passages for a question\n"
        ".SH SYNOPSIS\n.B braid\n[\\fIflags\\fR] \\fICOMMAND\\fR [\\fIoperands\\fR] "
        "[\\fIflags\\fR]\n.SH DESCRIPTION\n"
        "braid stores the text, vectors and metadata of chunks, searches them by meaning and by "
        "words,\n"
        "fuses both, and says why each hit is where it is. Data go to standard output, messages "
        "to\n"
        "standard error.\n.SH FLAGS FOR EVERY COMMAND\n";
    out += flag_entries(global_flags()) + ".SH COMMANDS\n";
    for (const CommandSpec* const command : commands) {
        out += ".SS " + bold("braid " + std::string(command->name));
        if (!command->operands.empty()) out += " " + italic(command->operands);
        out += "\n" + roff(command->summary) + ".\n";
        if (!command->details.empty()) out += ".PP\n" + detail_lines(command->details);
        out += flag_entries(command->flags);
        if (!command->shared_flags.empty()) {
            out += ".PP\n" + roff(command->shared_title) + ":\n";
            out += flag_entries(command->shared_flags);
        }
    }
    out +=
        ".SH ENVIRONMENT\nFlags override these variables, which override .env in the current\n"
        "directory, which overrides config.json, which overrides the defaults.\n";
    out += ".TP\n" + bold("BRAID_PAGER") + ", " + bold("PAGER") +
           "\nthe pager for long output on a terminal (default: less; empty: none); not read from "
           ".env\n";
    for (const SettingSpec& spec : setting_specs()) {
        out += ".TP\n" + bold(spec.variable) + "\n" + roff(spec.help);
        out += " (config.json: " + roff(spec.name);
        if (!spec.otherwise.empty()) out += "; default: " + roff(spec.otherwise);
        out += ")\n";
    }
    out +=
        ".SH FILES\n.TP\n\\fI$XDG_CONFIG_HOME/braid/config.json\\fR\n"
        "the configuration, also below ~/.config\n.TP\n\\fI.env\\fR\n"
        "variables for one folder\n.SH EXIT STATUS\n"
        "0 ok, 1 failed, 2 wrong usage, 3 not found, 4 damaged data, 5 database in use,\n"
        "130 interrupted.\n";
    return out;
}

}  // namespace braid::cli
