#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "braid/types.hpp"
#include "braid/value.hpp"

namespace braid::service {

enum class LogFormat { Human, Json };

/// Receives one line at a time, without its line end; called by several threads.
using LineSink = std::function<void(std::string_view line)>;

/// An event worth a line, with its facts under stable names.
struct LogEntry {
    LogEvent::Level level = LogEvent::Level::Info;
    std::string_view name;  // "request", "slow_query", "audit"
    Object facts;
};

/// `{"time": "2026-01-02T03:04:05.000006Z", "level": "info", "event": "request", ...}`, or for
/// people `2026-01-02T03:04:05.000006Z info request status=200 path=/v1/retrieve`. Never contains a
/// line break.
std::string log_line(LogFormat format, const LogEntry& entry, Timestamp now);

/// "debug", "info", "warning", "error".
std::string_view name_of(LogEvent::Level level) noexcept;

}  // namespace braid::service
