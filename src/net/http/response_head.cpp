#include "braid/net/http/response_head.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "braid/net/client/header.hpp"

namespace braid::net {
namespace {

constexpr auto kReasons = std::to_array<std::pair<int, std::string_view>>({
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {207, "Multi-Status"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {507, "Insufficient Storage"},
});

/// "Sun, 06 Nov 1994 08:49:37 GMT", whatever the locale.
std::string http_date(std::time_t now) {
    constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    const auto two = [](int number) {
        return std::string{static_cast<char>('0' + number / 10),
                           static_cast<char>('0' + number % 10)};
    };
    std::string text(days[static_cast<std::size_t>(parts.tm_wday)]);
    text.append(", ").append(two(parts.tm_mday)).append(" ");
    text.append(months[static_cast<std::size_t>(parts.tm_mon)]).append(" ");
    text.append(std::to_string(parts.tm_year + 1900)).append(" ").append(two(parts.tm_hour));
    text.append(":").append(two(parts.tm_min)).append(":").append(two(parts.tm_sec));
    return text.append(" GMT");
}

bool is_ours(std::string_view name) {
    return equal_ignoring_case(name, "content-length") || equal_ignoring_case(name, "date") ||
           equal_ignoring_case(name, "connection") ||
           equal_ignoring_case(name, "transfer-encoding");
}

bool is_plain(std::string_view text) {
    return std::ranges::none_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

}  // namespace

std::string_view reason_of(int status) noexcept {
    const auto* const found =
        std::ranges::find(kReasons, status, &std::pair<int, std::string_view>::first);
    return found == kReasons.end() ? "Status" : found->second;
}

bool may_have_body(int status) noexcept {
    return status >= 200 && status != 204 && status != 304;
}

std::string response_head(const OutgoingResponse& response, bool keep_alive, std::time_t now) {
    std::string head;
    head.reserve(256);
    head.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
    head.append(reason_of(response.status)).append("\r\n");
    for (const auto& [name, value] : response.headers) {
        if (is_ours(name) || name.empty() || !is_plain(name) || !is_plain(value)) continue;
        head.append(name).append(": ").append(value).append("\r\n");
    }
    if (may_have_body(response.status)) {
        head.append("Content-Length: ").append(std::to_string(response.body.size()));
        head.append("\r\n");
    }
    head.append("Date: ").append(http_date(now)).append("\r\nConnection: ");
    return head.append(keep_alive ? "keep-alive" : "close").append("\r\n\r\n");
}

}  // namespace braid::net
