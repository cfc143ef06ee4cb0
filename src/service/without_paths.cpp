#include "braid/service/without_paths.hpp"

#include <algorithm>

namespace braid::service {
namespace {

/// "/", "./", "../" or "~/" followed by something.
bool begins_path(std::string_view text) {
    for (const std::string_view start : {"/", "./", "../", "~/"}) {
        if (!text.starts_with(start)) continue;
        const std::string_view rest = text.substr(start.size());
        return !rest.empty() && rest.front() != ' ' && rest.front() != '/';
    }
    return false;
}

/// The end of a text that may contain a path; a path may contain spaces.
std::size_t end_of(std::string_view text) {
    std::size_t end = text.size();
    for (const std::string_view mark : {": ", "; ", ", ", " (", ") ", "\"", "\n"}) {
        end = std::min(end, text.find(mark));
    }
    return end;
}

}  // namespace

std::string without_paths(std::string_view message) {
    std::string out;
    out.reserve(message.size());
    bool quoted = false;
    for (std::size_t at = 0; at < message.size();) {
        const char before = at > 0 ? message[at - 1] : ' ';
        const bool word = before == ' ' || before == '(' || before == '\'' || before == '=';
        if (!quoted && word && begins_path(message.substr(at))) {
            const std::string_view stretch = message.substr(at, end_of(message.substr(at)));
            const std::size_t name = stretch.find_last_of('/') + 1;
            out += stretch.substr(name);
            at += stretch.size();
            continue;
        }
        if (message[at] == '"') quoted = !quoted;
        out += message[at++];
    }
    return out;
}

}  // namespace braid::service
