#include "braid/cli/args/arguments.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "braid/core/nearest.hpp"
#include "braid/json/json.hpp"

namespace braid::cli {
namespace {

constexpr auto kGlobalFlags = std::to_array<FlagSpec>({
    {.name = "data",
     .kind = FlagKind::Text,
     .value = "DIR",
     .help = "where the database is (BRAID_DATA, else ./braid-data)"},
    {.name = "backend",
     .kind = FlagKind::Text,
     .value = "KIND",
     .help = "local, or opensearch: a cluster (BRAID_BACKEND)",
     .choices = "local|opensearch"},
    {.name = "url",
     .kind = FlagKind::Text,
     .value = "URL,...",
     .help = "nodes of the cluster (BRAID_CLUSTER_URL)"},
    {.name = "key",
     .kind = FlagKind::Text,
     .value = "KEY",
     .help = "user:password or token (better: BRAID_CLUSTER_KEY)"},
    {.name = "as",
     .kind = FlagKind::Text,
     .value = "WHO",
     .help = "act as WHO (see \"braid help config show\")"},
    {.name = "json", .help = "print one JSON object"},
    {.name = "quiet", .help = "no progress, notes or summaries", .letter = 'q'},
    {.name = "verbose", .help = "say more on standard error", .letter = 'v'},
    {.name = "no-pager", .help = "do not page long output (BRAID_PAGER, PAGER)"},
    {.name = "no-color", .help = "no colours (also NO_COLOR)"},
    {.name = "version", .help = "print the version", .letter = 'V'},
    {.name = "help", .help = "print help", .letter = 'h'},
});

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known,
                         std::string_view prefix) {
    const auto near = core::nearest(word, known);
    if (!near) return {};
    return "; did you mean \"" + std::string(prefix) + std::string(*near) + "\"?";
}

std::string with_commas(std::string_view choices) {
    std::string out;
    for (const char c : choices) {
        if (c == '|') {
            out += ", ";
        } else {
            out += c;
        }
    }
    return out;
}

template <class Number>
std::optional<Number> number_from(const std::string& text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || after != end || text.empty()) return std::nullopt;
    return number;
}

/// One walk over the command line.
class ArgumentParser {
public:
    ArgumentParser(std::span<const std::string> arguments,
                   std::span<const CommandSpec* const> commands)
        : rest_(arguments), commands_(commands) {}

    Result<Arguments> parse() {
        BRAID_CHECK(find_command());
        bool flags_ended = false;
        while (!rest_.empty()) {
            const std::string argument = rest_.front();
            rest_ = rest_.subspan(1);
            if (flags_ended || argument == "-" || !argument.starts_with('-')) {
                out_.operands.push_back(argument);
            } else if (argument == "--") {
                flags_ended = true;
            } else {
                BRAID_CHECK(take_flag(argument));
            }
        }
        if (out_.has("help") || out_.has("version")) {
            if (!group_.empty() && !out_.operands.empty()) {
                out_.command = command_named(group_ + " " + out_.operands.front());
            }
            out_.group = group_;
            return std::move(out_);
        }
        if (!group_.empty()) BRAID_CHECK(unknown_command(group_));
        BRAID_CHECK(check_operands());
        return std::move(out_);
    }

private:
    /// Global flags up to the command, then its one or two words.
    Result<> find_command() {  // NOLINT(misc-no-recursion): a word less each time
        while (!rest_.empty() && rest_.front().starts_with('-') && rest_.front() != "-" &&
               rest_.front() != "--") {
            const std::string argument = rest_.front();
            rest_ = rest_.subspan(1);
            BRAID_CHECK(take_flag(argument));
        }
        if (rest_.empty()) return {};
        const std::string first = rest_.front();
        if (first == "help") {  // `help COMMAND` is `COMMAND --help`
            out_.add("help", "");
            rest_ = rest_.subspan(1);
            return find_command();
        }
        if (rest_.size() > 1) {
            if (const auto* found = command_named(first + " " + rest_[1])) {
                out_.command = found;
                rest_ = rest_.subspan(2);
                return {};
            }
        }
        out_.command = command_named(first);
        if (out_.command != nullptr) {
            rest_ = rest_.subspan(1);
            return {};
        }
        if (is_group(first) && (rest_.size() == 1 || is_flag(rest_[1]))) {
            group_ = first;
            rest_ = rest_.subspan(1);
            return {};
        }
        return unknown_command(first);
    }

    static bool is_flag(const std::string& argument) {
        return argument.size() > 1 && argument.starts_with('-');
    }

    /// Whether the names of some commands begin with this word.
    bool is_group(const std::string& word) const {
        return std::ranges::any_of(
            commands_, [&](const CommandSpec* c) { return c->name.starts_with(word + " "); });
    }

    const CommandSpec* command_named(std::string_view name) const {
        const auto found = std::ranges::find_if(commands_, [&](const CommandSpec* c) {
            return c->name == name || (!name.empty() && c->former_name == name);
        });
        return found == commands_.end() ? nullptr : *found;
    }

    Result<> unknown_command(const std::string& word) const {
        std::vector<std::string_view> names;
        std::vector<std::string_view> second_words;
        for (const CommandSpec* command : commands_) {
            names.push_back(command->name);
            if (command->name.starts_with(word + " ")) {
                second_words.push_back(command->name.substr(word.size() + 1));
            }
        }
        if (!second_words.empty()) {
            std::string list;
            for (const auto name : second_words)
                list += (list.empty() ? "" : ", ") + std::string(name);
            return invalid_argument("\"" + word + "\" needs one of: " + list);
        }
        return invalid_argument("unknown command \"" + word + "\"" + did_you_mean(word, names, ""));
    }

    const FlagSpec* flag_named(std::string_view name) const {
        for (const auto flags : flag_tables()) {
            const auto found = std::ranges::find(flags, name, &FlagSpec::name);
            if (found != flags.end()) return &*found;
        }
        return nullptr;
    }

    const FlagSpec* flag_lettered(char letter) const {
        for (const auto flags : flag_tables()) {
            const auto found = std::ranges::find(flags, letter, &FlagSpec::letter);
            if (found != flags.end()) return &*found;
        }
        return nullptr;
    }

    std::vector<std::span<const FlagSpec>> flag_tables() const {
        if (out_.command == nullptr) return {kGlobalFlags};
        return {out_.command->flags, out_.command->shared_flags, kGlobalFlags};
    }

    Result<> take_flag(const std::string& argument) {
        const FlagSpec* flag = nullptr;
        std::optional<std::string> value;
        if (argument.starts_with("--")) {
            const std::size_t equals = argument.find('=');
            const std::string name = argument.substr(2, equals - 2);
            flag = flag_named(name);
            if (flag == nullptr) return unknown_flag(name);
            if (equals != std::string::npos) value = argument.substr(equals + 1);
        } else {
            flag = flag_lettered(argument[1]);
            if (flag == nullptr)
                return invalid_argument("unknown flag \"-" + argument.substr(1, 1) + "\"");
            if (argument.size() > 2) value = argument.substr(2);
        }
        return store(*flag, std::move(value));
    }

    Result<> unknown_flag(const std::string& name) const {
        std::vector<std::string_view> names;
        for (const auto flags : flag_tables()) {
            for (const FlagSpec& flag : flags) names.push_back(flag.name);
        }
        std::string message = "unknown flag \"--" + name + "\"";
        if (out_.command != nullptr) message += " of \"" + std::string(out_.command->name) + "\"";
        return invalid_argument(message + did_you_mean(name, names, "--"));
    }

    Result<> store(const FlagSpec& flag, std::optional<std::string> value) {
        const std::string shown = "--" + std::string(flag.name);
        if (flag.kind == FlagKind::Switch) {
            if (value) return invalid_argument(shown + " takes no value");
            if (!out_.has(flag.name)) out_.add(flag.name, "");
            return {};
        }
        if (!value) {
            if (rest_.empty()) {
                return invalid_argument(shown + " needs a value (" + std::string(flag.value) + ")");
            }
            value = rest_.front();
            rest_ = rest_.subspan(1);
        }
        if (!flag.choices.empty() && !is_choice(flag.choices, *value)) {
            return invalid_argument(shown + ": must be one of " + with_commas(flag.choices) +
                                    ", got \"" + *value + "\"");
        }
        if (flag.kind != FlagKind::List && out_.has(flag.name)) {
            return invalid_argument(shown + " is given twice");
        }
        out_.add(flag.name, *std::move(value));
        return {};
    }

    Result<> check_operands() const {
        if (out_.command == nullptr) return {};
        const std::string name(out_.command->name);
        if (out_.operands.size() < out_.command->min_operands) {
            return invalid_argument("\"" + name + "\" needs " +
                                    std::string(out_.command->operands));
        }
        if (out_.operands.size() > out_.command->max_operands) {
            return invalid_argument("\"" + name + "\" does not take \"" +
                                    out_.operands[out_.command->max_operands] + "\"");
        }
        return {};
    }

    std::span<const std::string> rest_;
    std::span<const CommandSpec* const> commands_;
    std::string group_;  // a word that needs another
    Arguments out_;
};

}  // namespace

bool is_choice(std::string_view choices, std::string_view value) {
    while (!choices.empty()) {
        const std::size_t bar = choices.find('|');
        if (choices.substr(0, bar) == value) return true;
        if (bar == std::string_view::npos) return false;
        choices.remove_prefix(bar + 1);
    }
    return false;
}

std::string Arguments::joined_operands() const {
    std::string text;
    for (const std::string& word : operands) text.append(text.empty() ? "" : " ").append(word);
    return text;
}

std::optional<std::string> Arguments::text(std::string_view flag) const {
    const auto found = values_.find(flag);
    if (found == values_.end()) return std::nullopt;
    return found->second.front();
}

std::string Arguments::text_or(std::string_view flag, std::string_view otherwise) const {
    return text(flag).value_or(std::string(otherwise));
}

std::vector<std::string> Arguments::list(std::string_view flag) const {
    const auto found = values_.find(flag);
    return found == values_.end() ? std::vector<std::string>() : found->second;
}

Result<std::optional<std::int64_t>> Arguments::integer(std::string_view flag, std::int64_t min,
                                                       std::int64_t max) const {
    const auto given = text(flag);
    if (!given) return std::nullopt;
    const auto number = number_from<std::int64_t>(*given);
    if (number && *number >= min && *number <= max) return *number;
    return invalid_argument("--" + std::string(flag) + ": must be an integer from " +
                            std::to_string(min) + " to " + std::to_string(max) + ", got \"" +
                            *given + "\"");
}

Result<Value> Arguments::value(const FlagSpec& flag) const {
    const auto given = text(flag.name);
    if (!given) return Value();
    const std::string shown = "--" + std::string(flag.name);
    switch (flag.kind) {
        case FlagKind::Switch:
            return Value(true);
        case FlagKind::Text:
            return Value(*given);
        case FlagKind::List: {
            const auto all = list(flag.name);
            return Value(Array(all.begin(), all.end()));
        }
        case FlagKind::Integer: {
            const auto number = number_from<std::int64_t>(*given);
            if (!number)
                return invalid_argument(shown + ": must be an integer, got \"" + *given + "\"");
            return Value(*number);
        }
        case FlagKind::Number: {
            const auto number = number_from<double>(*given);
            if (!number || !std::isfinite(*number)) {
                return invalid_argument(shown + ": must be a number, got \"" + *given + "\"");
            }
            return Value(*number);
        }
        case FlagKind::Json:
            break;
    }
    auto json = json::parse(*given);
    if (!json) return invalid_argument(shown + ": not JSON: " + json.error().message);
    return json;
}

Result<Object> Arguments::keyed_values(std::span<const FlagSpec> flags) const {
    Object out;
    for (const FlagSpec& flag : flags) {
        if (flag.key.empty() || !has(flag.name)) continue;
        BRAID_TRY(Value given, value(flag));
        out.set(flag.key, std::move(given));
    }
    return out;
}

std::span<const FlagSpec> global_flags() {
    return kGlobalFlags;
}

Result<Arguments> parse_arguments(std::span<const std::string> arguments,
                                  std::span<const CommandSpec* const> commands) {
    return ArgumentParser(arguments, commands).parse();
}

}  // namespace braid::cli
