#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braid::net {

/// One line of a message's head, of requests and answers, sent and received.
struct HttpHeader {
    std::string name;
    std::string value;
};

/// Of ASCII letters.
inline bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
}

/// The value of the first header of that name.
inline std::optional<std::string_view> find_header(const std::vector<HttpHeader>& headers,
                                                   std::string_view name) noexcept {
    for (const HttpHeader& header : headers) {
        if (equal_ignoring_case(header.name, name)) return header.value;
    }
    return std::nullopt;
}

}  // namespace braid::net
