#include "braid/server/http/target.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "braid/core/hex.hpp"
#include "braid/core/nearest.hpp"
#include "braid/core/utf8.hpp"

namespace braid::server {
namespace {

constexpr std::size_t kMaxParameters = 64;

bool all_hex(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Result<std::string> unescape(std::string_view text, bool plus_is_space) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            const int high = i + 2 < text.size() ? core::hex_digit(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? core::hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return invalid_argument("the address holds an invalid \"%\" escape");
            c = static_cast<char>(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (c == '\0') return invalid_argument("the address holds a NUL");
        out.push_back(c);
    }
    if (!core::is_valid_utf8(out)) return invalid_argument("the address is not UTF-8");
    return out;
}

Result<> parse_query(std::string_view text, Target& target) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (part.empty()) continue;
        const std::size_t equals = std::min(part.find('='), part.size());
        BRAID_TRY(std::string name, unescape(part.substr(0, equals), true));
        BRAID_TRY(
            std::string value,
            unescape(equals < part.size() ? part.substr(equals + 1) : std::string_view(), true));
        for (const auto& [known, ignored] : target.query) {
            if (known == name)
                return invalid_argument("the parameter \"" + name + "\" is given twice");
        }
        if (target.query.size() == kMaxParameters) return invalid_argument("too many parameters");
        target.query.emplace_back(std::move(name), std::move(value));
    }
    return {};
}

}  // namespace

Result<Target> parse_target(std::string_view text) {
    if (!text.starts_with('/')) return invalid_argument("the address must begin with \"/\"");
    Target target;
    const std::size_t question = std::min(text.find('?'), text.size());
    std::string_view path = text.substr(1, question - 1);
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        BRAID_TRY(std::string segment, unescape(path.substr(0, end), false));
        target.segments.push_back(std::move(segment));
        if (end == path.size()) break;
        path.remove_prefix(end + 1);
        if (path.empty()) target.segments.emplace_back();  // "/v1/" is not "/v1"
    }
    if (question < text.size()) BRAID_CHECK(parse_query(text.substr(question + 1), target));
    return target;
}

std::optional<std::string> host_of(std::string_view authority) {
    std::string_view host = authority;
    if (host.starts_with('[')) {
        const std::size_t close = host.find(']');
        if (close == std::string_view::npos) return std::nullopt;
        const std::string_view rest = host.substr(close + 1);
        if (!rest.empty() && !rest.starts_with(':')) return std::nullopt;
        host = host.substr(1, close - 1);
    } else {
        const std::size_t colon = host.find(':');
        if (colon != std::string_view::npos) {
            const std::string_view port = host.substr(colon + 1);
            if (port.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
            host = host.substr(0, colon);
        }
    }
    if (host.empty()) return std::nullopt;
    std::string name = core::ascii_lower(host);
    if (name.ends_with('.')) name.pop_back();
    const bool sane = std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
               c == ':' || c == '_';
    });
    if (!sane || name.empty()) return std::nullopt;
    return name;
}

bool is_address(std::string_view host) {
    if (host.find(':') != std::string_view::npos) {
        return host.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
    }
    int parts = 0;
    while (true) {
        const std::size_t end = std::min(host.find('.'), host.size());
        unsigned number = 256;
        const auto [stop, error] = std::from_chars(host.data(), host.data() + end, number);
        if (error != std::errc() || stop != host.data() + end || number > 255) return false;
        ++parts;
        if (end == host.size()) return parts == 4;
        host.remove_prefix(end + 1);
    }
}

bool is_sane_id(std::string_view id) {
    return !id.empty() && id.size() <= 128 && std::ranges::all_of(id, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == ':' || c == '-';
    });
}

std::string TraceContext::header(std::uint64_t span) const {
    return "00-" + trace_id + "-" + core::hex_of(span | 1U) + "-" + flags;
}

std::optional<TraceContext> parse_traceparent(std::string_view text) {
    constexpr std::size_t length = 55;
    if (text.size() < length || text[2] != '-' || text[35] != '-' || text[52] != '-') {
        return std::nullopt;
    }
    const std::string_view version = text.substr(0, 2);
    const std::string_view trace = text.substr(3, 32);
    const std::string_view parent = text.substr(36, 16);
    const std::string_view flags = text.substr(53, 2);
    // Later versions may append more; this one may not.
    if (version == "ff" || (version == "00" && text.size() != length)) return std::nullopt;
    if (text.size() > length && text[length] != '-') return std::nullopt;
    if (!all_hex(version) || !all_hex(trace) || !all_hex(parent) || !all_hex(flags)) {
        return std::nullopt;
    }
    const auto zero = [](std::string_view digits) {
        return digits.find_first_not_of('0') == std::string_view::npos;
    };
    if (zero(trace) || zero(parent)) return std::nullopt;
    return TraceContext{std::string(trace), std::string(flags)};
}

std::string media_type(std::string_view header) {
    header = header.substr(0, header.find(';'));
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!header.empty() && blank(header.back())) header.remove_suffix(1);
    while (!header.empty() && blank(header.front())) header.remove_prefix(1);
    return core::ascii_lower(header);
}

bool accepts(std::optional<std::string_view> header, std::string_view type) {
    if (!header) return true;
    const std::string family = std::string(type.substr(0, type.find('/'))) + "/*";
    std::string_view rest = *header;
    while (true) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        const std::string_view part = rest.substr(0, end);
        const std::string offered = media_type(part);
        const bool refused = part.find("q=0") != std::string_view::npos &&
                             part.find("q=0.") == std::string_view::npos;
        if (!refused && (offered == "*/*" || offered == family || offered == type)) return true;
        if (end == rest.size()) return false;
        rest.remove_prefix(end + 1);
    }
}

}  // namespace braid::server
