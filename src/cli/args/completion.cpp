#include "braid/cli/args/completion.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

namespace braid::cli {
namespace {

using Commands = std::span<const CommandSpec* const>;

bool takes_value(const FlagSpec& flag) {
    return flag.kind != FlagKind::Switch;
}

bool takes_path(const FlagSpec& flag) {
    return flag.value.find("FILE") != std::string_view::npos ||
           flag.value.find("DIR") != std::string_view::npos ||
           flag.value.find("PATH") != std::string_view::npos;
}

bool has_path_operands(const CommandSpec& command) {
    return command.operands.find("PATH") != std::string_view::npos ||
           command.operands.find("RUN") != std::string_view::npos ||
           command.operands.find("FILE") != std::string_view::npos;
}

std::vector<const FlagSpec*> flags_of(const CommandSpec& command) {
    std::vector<const FlagSpec*> all;
    for (const auto flags : {command.flags, command.shared_flags, global_flags()}) {
        for (const FlagSpec& flag : flags) all.push_back(&flag);
    }
    return all;
}

std::string flag_words(const CommandSpec& command) {
    std::string out;
    for (const FlagSpec* const flag : flags_of(command)) {
        out.append(out.empty() ? "--" : " --").append(flag->name);
    }
    return out;
}

std::string with_spaces(std::string_view choices) {
    std::string out(choices);
    std::ranges::replace(out, '|', ' ');
    return out;
}

/// The first words of commands' names, each once, and those that follow `first`.
std::vector<std::string> name_words(Commands commands, std::string_view first = {}) {
    std::vector<std::string> words;
    for (const CommandSpec* const command : commands) {
        const std::string_view name = command->name;
        const std::size_t space = name.find(' ');
        std::string word;
        if (first.empty()) {
            word = name.substr(0, space);
        } else if (space != std::string_view::npos && name.substr(0, space) == first) {
            word = name.substr(space + 1);
        }
        if (!word.empty() && std::ranges::find(words, word) == words.end()) words.push_back(word);
    }
    return words;
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out.append(out.empty() ? "" : " ").append(word);
    return out;
}

/// In single quotes, which work in each of the shells.
std::string shell_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
        } else {
            out += c;
        }
    }
    return out + "'";
}

/// A text inside a specification for zsh's _arguments.
std::string zsh_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

/// `case` branches for bash: what may follow the previous flag.
std::string bash_values(const CommandSpec& command) {
    std::string out;
    for (const FlagSpec* const flag : flags_of(command)) {
        if (!takes_value(*flag)) continue;
        std::string pattern = "--" + std::string(flag->name);
        if (flag->letter != 0) pattern += std::string("|-") + flag->letter;
        out += "            " + pattern + ") ";
        if (!flag->choices.empty()) {
            out += "COMPREPLY=($(compgen -W " + shell_quoted(with_spaces(flag->choices)) +
                   " -- \"$current\"))";
        } else if (takes_path(*flag)) {
            out += "COMPREPLY=($(compgen -f -- \"$current\"))";
        } else {
            out += ':';
        }
        out += "; return ;;\n";
    }
    return out;
}

}  // namespace

std::string bash_completion(Commands commands) {
    std::string out = R"(# Completion of braid for bash: source it, or install it as
# share/bash-completion/completions/braid.
_braid() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local first='' second='' word skip='' i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ -n $skip ]]; then skip=''; continue; fi
        case $word in
            --data) skip=1 ;;
            -*) ;;
            *) if [[ -z $first ]]; then first=$word; elif [[ -z $second ]]; then second=$word; fi ;;
        esac
    done
    COMPREPLY=()
    case "$first $second" in
)";
    // Names of two words first: their first word is a name of its own.
    std::vector<const CommandSpec*> ordered(commands.begin(), commands.end());
    std::ranges::stable_partition(ordered, [](const CommandSpec* command) {
        return command->name.find(' ') != std::string_view::npos;
    });
    for (const CommandSpec* const command : ordered) {
        const bool two = command->name.find(' ') != std::string_view::npos;
        const std::string second_words = joined(name_words(commands, command->name));
        out += "    " + shell_quoted(std::string(command->name) + (two ? "" : " ")) +
               (two ? "" : "*") + ")\n        case $before in\n" + bash_values(*command) +
               "        esac\n        if [[ $current == -* ]]; then\n"
               "            COMPREPLY=($(compgen -W " +
               shell_quoted(flag_words(*command)) + " -- \"$current\"))\n";
        if (!second_words.empty()) {
            out += "        else\n            COMPREPLY=($(compgen -W " +
                   shell_quoted(second_words) + " -- \"$current\"))\n";
        } else if (has_path_operands(*command)) {
            out += "        else\n            COMPREPLY=($(compgen -f -- \"$current\"))\n";
        }
        out += "        fi ;;\n";
    }
    for (const std::string& word : name_words(commands)) {
        const bool alone = std::ranges::find(commands, std::string_view(word),
                                             &CommandSpec::name) != commands.end();
        if (alone) continue;
        out += "    " + shell_quoted(word + " ") + "*)\n        COMPREPLY=($(compgen -W " +
               shell_quoted(joined(name_words(commands, word))) + " -- \"$current\")) ;;\n";
    }
    std::string global;
    for (const FlagSpec& flag : global_flags()) global.append(" --").append(flag.name);
    out +=
        "    *)\n        if [[ $before == --data ]]; then\n"
        "            COMPREPLY=($(compgen -d -- \"$current\"))\n        else\n"
        "            COMPREPLY=($(compgen -W " +
        shell_quoted("help " + joined(name_words(commands)) + global) +
        " -- \"$current\"))\n        fi ;;\n    esac\n}\n"
        "complete -o filenames -F _braid braid\n";
    return out;
}

std::string zsh_completion(Commands commands) {
    std::string out = R"(#compdef braid
# Completion of braid for zsh: install it as _braid in a folder of $fpath.
_braid() {
    local -a names flags
    local -i i=2
    while (( i < CURRENT )) && [[ $words[i] == -* ]]; do
        [[ $words[i] == --data ]] && (( i++ ))
        (( i++ ))
    done
    if (( i >= CURRENT )); then
        names=(
)";
    for (const std::string& word : name_words(commands)) {
        const auto found = std::ranges::find(commands, std::string_view(word), &CommandSpec::name);
        const std::string_view summary = found != commands.end() ? (*found)->summary : "";
        out += "            " + shell_quoted(zsh_text(word) + ":" + std::string(summary)) + "\n";
    }
    out +=
        "        )\n        _describe command names\n        return\n    fi\n"
        "    local name=$words[i]\n"
        "    case \"$words[i] $words[i+1]\" in\n";
    std::string chosen;
    for (const CommandSpec* const command : commands) {
        if (command->name.find(' ') == std::string_view::npos) continue;
        chosen += "        " + shell_quoted(command->name) +
                  ") name=" + shell_quoted(command->name) + "; (( i++ )) ;;\n";
    }
    out += chosen +
           "    esac\n    shift $(( i - 1 )) words\n    (( CURRENT -= i - 1 ))\n"
           "    case $name in\n";
    for (const CommandSpec* const command : commands) {
        out += "        " + shell_quoted(command->name) + ") flags=(\n";
        for (const FlagSpec* const flag : flags_of(*command)) {
            std::string spec = "--" + std::string(flag->name) + "[" + zsh_text(flag->help) + "]";
            if (takes_value(*flag)) {
                spec += ":" + zsh_text(flag->value) + ":";
                if (!flag->choices.empty()) spec += "(" + with_spaces(flag->choices) + ")";
                if (takes_path(*flag)) spec += "_files";
            }
            if (flag->kind == FlagKind::List) spec.insert(0, "*");
            out += "            " + shell_quoted(spec) + "\n";
        }
        const std::string second = joined(name_words(commands, command->name));
        if (!second.empty()) {
            out += "            " + shell_quoted("1:command:(" + second + ")") + "\n";
        } else if (has_path_operands(*command)) {
            out += "            " + shell_quoted("*:file:_files") + "\n";
        }
        out += "        ) ;;\n";
    }
    return out + "    esac\n    _arguments $flags\n}\n_braid \"$@\"\n";
}

std::string fish_completion(Commands commands) {
    std::string out =
        "# Completion of braid for fish: install it as braid.fish in\n"
        "# ~/.config/fish/completions.\ncomplete -c braid -f\n";
    const auto line = [&](const std::string& condition, const FlagSpec& flag) {
        out += "complete -c braid" + (condition.empty() ? "" : " -n " + shell_quoted(condition)) +
               " -l " + std::string(flag.name);
        if (flag.letter != 0) out += std::string(" -s ") + flag.letter;
        if (takes_value(flag)) out += takes_path(flag) ? " -r -F" : " -x";
        if (!flag.choices.empty()) out += " -a " + shell_quoted(with_spaces(flag.choices));
        out += " -d " + shell_quoted(flag.help) + "\n";
    };
    for (const FlagSpec& flag : global_flags()) line("", flag);
    for (const std::string& word : name_words(commands)) {
        const auto found = std::ranges::find(commands, std::string_view(word), &CommandSpec::name);
        out += "complete -c braid -n __fish_use_subcommand -a " + shell_quoted(word) + " -d " +
               shell_quoted(found != commands.end() ? (*found)->summary : "") + "\n";
    }
    for (const CommandSpec* const command : commands) {
        const std::size_t space = command->name.find(' ');
        const std::string first(command->name.substr(0, space));
        std::string condition = "__fish_seen_subcommand_from " + first;
        if (space != std::string_view::npos) {
            const std::string second(command->name.substr(space + 1));
            out += "complete -c braid -n " +
                   shell_quoted(std::string(condition)
                                    .append("; and not __fish_seen_subcommand_from ")
                                    .append(second)) +
                   " -a " + shell_quoted(second) + " -d " + shell_quoted(command->summary) + "\n";
            condition += "; and __fish_seen_subcommand_from " + second;
        } else if (has_path_operands(*command)) {
            out += "complete -c braid -n " + shell_quoted(condition) + " -F\n";
        }
        for (const auto flags : {command->flags, command->shared_flags}) {
            for (const FlagSpec& flag : flags) line(condition, flag);
        }
    }
    return out;
}

}  // namespace braid::cli
