#include "braid/cli/config/env_file.hpp"

#include <algorithm>
#include <optional>

namespace braid::cli {
namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// A value of .env without its quotes or the comment after it.
std::optional<std::string> env_value(std::string_view text) {
    text = trimmed(text);
    if (text.empty() || (text.front() != '"' && text.front() != '\'')) {
        std::size_t comment = text.starts_with('#') ? 0 : text.find(" #");
        comment = std::min(comment, text.find("\t#"));
        return std::string(trimmed(text.substr(0, comment)));
    }
    const char quote = text.front();
    std::string out;
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == quote) {
            const std::string_view after = trimmed(text.substr(i + 1));
            if (!after.empty() && !after.starts_with('#')) return std::nullopt;
            return out;
        }
        if (text[i] == '\\' && quote == '"' && i + 1 < text.size()) {
            ++i;
            out += text[i] == 'n' ? '\n' : text[i];
        } else {
            out += text[i];
        }
    }
    return std::nullopt;
}

bool is_variable_name(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '_';
    });
}

}  // namespace

Result<std::vector<EnvVariable>> parse_env(std::string_view text, const std::string& name) {
    std::vector<EnvVariable> out;
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t line_break = text.find('\n');
        std::string_view line = trimmed(text.substr(0, line_break));
        text.remove_prefix(line_break == std::string_view::npos ? text.size() : line_break + 1);
        ++number;
        if (line.empty() || line.starts_with('#')) continue;
        if (line.starts_with("export ")) line = trimmed(line.substr(7));
        const std::size_t equals = line.find('=');
        const std::string_view variable = trimmed(line.substr(0, equals));
        const auto value =
            equals == std::string_view::npos ? std::nullopt : env_value(line.substr(equals + 1));
        if (!value || !is_variable_name(variable)) {
            return invalid_argument(name + ":" + std::to_string(number) + ": expected NAME=value");
        }
        out.emplace_back(variable, *value);
    }
    return out;
}

}  // namespace braid::cli
