#include "braid/service/log.hpp"

#include <algorithm>
#include <utility>

#include "braid/core/rfc3339.hpp"
#include "braid/json/json.hpp"

namespace braid::service {
namespace {

/// Words without blanks, quotes or equals signs are printed as they are.
bool is_plain(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return c > ' ' && c < 0x7F && c != '"' && c != '=' && c != '\\';
    });
}

void append_fact(std::string& line, const std::string& name, const Value& value) {
    line += ' ';
    line += name;
    line += '=';
    if (value.is_string() && is_plain(value.as_string())) {
        line += value.as_string();
    } else {
        json::print_to(line, value);
    }
}

}  // namespace

std::string_view name_of(LogEvent::Level level) noexcept {
    switch (level) {
        case LogEvent::Level::Debug:
            return "debug";
        case LogEvent::Level::Info:
            return "info";
        case LogEvent::Level::Warning:
            return "warning";
        case LogEvent::Level::Error:
            return "error";
    }
    return "info";
}

std::string log_line(LogFormat format, const LogEntry& entry, Timestamp now) {
    const std::string time = core::print_rfc3339(now);
    if (format == LogFormat::Json) {
        Object line{{"time", Value(time)}, {"level", name_of(entry.level)}, {"event", entry.name}};
        line.reserve(line.size() + entry.facts.size());
        for (const auto& [name, value] : entry.facts) line.set(name, value);
        return json::print(line);
    }
    std::string line = time + ' ' + std::string(name_of(entry.level)) + ' ';
    line += entry.name;
    for (const auto& [name, value] : entry.facts) append_fact(line, name, value);
    return line;
}

}  // namespace braid::service
