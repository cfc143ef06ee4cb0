#include "braid/ingest/glob.hpp"

#include <algorithm>

namespace braid::ingest {
namespace {

std::vector<std::string> parts_of(std::string_view path) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin <= path.size()) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        if (end > begin) parts.emplace_back(path.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// Whether the class "[…]" at `pattern[at]` contains `c`; moves `at` past it. A "[" that is never
/// closed stands for itself.
bool in_class(std::string_view pattern, std::size_t& at, char c) {
    std::size_t i = at + 1;
    const bool inverted = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
    if (inverted) ++i;
    const std::size_t close = pattern.find(']', i + 1);
    if (close == std::string_view::npos) {
        ++at;
        return c == '[';
    }
    bool found = false;
    for (; i < close; ++i) {
        if (i + 2 < close && pattern[i + 1] == '-') {
            found = found || (pattern[i] <= c && c <= pattern[i + 2]);
            i += 2;
        } else {
            found = found || pattern[i] == c;
        }
    }
    at = close + 1;
    return found != inverted;
}

/// Matches one name against one part of a pattern. After a mismatch the last "*" takes one more
/// character.
bool name_matches(std::string_view pattern, std::string_view name) {
    std::size_t p = 0;
    std::size_t n = 0;
    std::size_t star = std::string_view::npos;
    std::size_t star_name = 0;
    while (n < name.size()) {
        std::size_t next = p;
        bool same = false;
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            star_name = n;
            continue;
        }
        if (p < pattern.size()) {
            if (pattern[p] == '[') {
                same = in_class(pattern, next, name[n]);
            } else if (pattern[p] == '\\' && p + 1 < pattern.size()) {
                same = pattern[p + 1] == name[n];
                next = p + 2;
            } else {
                same = pattern[p] == '?' || pattern[p] == name[n];
                next = p + 1;
            }
        }
        if (same) {
            p = next;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++star_name;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

/// `reached[i]`: the parts so far match the first i names.
bool path_matches(const std::vector<std::string>& parts, const std::vector<std::string>& names) {
    std::vector<char> reached(names.size() + 1, 0);
    reached[0] = 1;
    for (const std::string& part : parts) {
        std::vector<char> next(names.size() + 1, 0);
        for (std::size_t i = 0; i <= names.size(); ++i) {
            if (part == "**") {
                next[i] = static_cast<char>(reached[i] != 0 || (i > 0 && next[i - 1] != 0));
            } else if (i > 0 && reached[i - 1] != 0) {
                next[i] = static_cast<char>(name_matches(part, names[i - 1]));
            }
        }
        reached = std::move(next);
    }
    return reached.back() != 0;
}

}  // namespace

Glob::Glob(std::string_view pattern) {
    directories_only_ = pattern.ends_with('/');
    while (pattern.ends_with('/')) pattern.remove_suffix(1);
    whole_path_ = pattern.find('/') != std::string_view::npos;
    parts_ = parts_of(pattern);
}

bool Glob::matches(std::string_view path, bool directory) const {
    if (parts_.empty() || (directories_only_ && !directory)) return false;
    if (whole_path_) return path_matches(parts_, parts_of(path));
    const std::size_t slash = path.rfind('/');
    return name_matches(parts_.front(),
                        slash == std::string_view::npos ? path : path.substr(slash + 1));
}

bool Glob::covers(std::string_view file) const {
    if (matches(file, false)) return true;
    for (std::size_t at = file.find('/'); at != std::string_view::npos;
         at = file.find('/', at + 1)) {
        if (matches(file.substr(0, at), true)) return true;
    }
    return false;
}

void IgnoreRules::add(std::string_view lines, std::string_view base, std::string_view origin) {
    std::size_t begin = 0;
    while (begin < lines.size()) {
        const std::size_t end = std::min(lines.find('\n', begin), lines.size());
        std::string_view line = lines.substr(begin, end - begin);
        begin = end + 1;
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
        if (line.empty() || line.front() == '#') continue;
        const bool keep = line.front() == '!';
        if (keep || line.starts_with("\\!") || line.starts_with("\\#")) line.remove_prefix(1);
        rules_.push_back({Glob(line), std::string(base), std::string(origin), keep});
    }
}

std::string_view IgnoreRules::ignored_by(std::string_view path, bool directory) const {
    for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
        std::string_view below = path;
        if (!rule->base.empty()) {
            if (!below.starts_with(rule->base) || below.size() <= rule->base.size()) continue;
            below.remove_prefix(rule->base.size() + 1);
        }
        if (rule->glob.matches(below, directory)) {
            return rule->keep ? std::string_view() : std::string_view(rule->origin);
        }
    }
    return {};
}

}  // namespace braid::ingest
