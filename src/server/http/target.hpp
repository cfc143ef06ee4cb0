#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/result.hpp"

namespace braid::server {

/// "/v1/collections/notes?limit=3", taken apart and unescaped; a segment is never interpreted as a
/// path again.
struct Target {
    std::vector<std::string> segments;  // "v1", "collections", "notes"
    std::vector<std::pair<std::string, std::string>> query;
};

/// InvalidArgument: no path, an escape that is none, bytes that are not UTF-8, a NUL, a parameter
/// given twice.
Result<Target> parse_target(std::string_view text);

/// The host of a Host header or an origin's authority, in lower case, without port and brackets;
/// none if it is malformed.
std::optional<std::string> host_of(std::string_view authority);

/// Four decimal numbers, or hexadecimal ones between colons: not a name that somebody could
/// register.
bool is_address(std::string_view host);

/// An id that can stand in a header and a log: 1 to 128 of [A-Za-z0-9._:-].
bool is_sane_id(std::string_view id);

/// W3C trace context: version, trace id, parent id and flags, in lower-case hexadecimal digits.
struct TraceContext {
    std::string trace_id;  // 32 digits
    std::string flags;     // 2 digits

    /// The header to send on, with `span` as the parent.
    std::string header(std::uint64_t span) const;
};
std::optional<TraceContext> parse_traceparent(std::string_view text);

/// The media type of a Content-Type header, in lower case, without parameters.
std::string media_type(std::string_view header);

/// Whether an Accept header admits the type; without the header, all types are.
bool accepts(std::optional<std::string_view> header, std::string_view type);

}  // namespace braid::server
