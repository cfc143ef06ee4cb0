#include "braid/net/client/url.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <curl/curl.h>

namespace braid::net {
namespace {

std::string part_of(CURLU* url, CURLUPart part, unsigned flags) {
    char* raw = nullptr;
    if (curl_url_get(url, part, &raw, flags) != CURLUE_OK) return {};
    std::string text(raw);
    curl_free(raw);
    return text;
}

}  // namespace

Result<Url> parse_url(const std::string& text) {
    const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
    if (!url) return fail(ErrorCode::ResourceExhausted, "no memory to read a URL");
    if (text.find('\0') != std::string::npos ||
        curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
        return invalid_argument("not a valid http or https URL");
    }
    Url parsed{.scheme = part_of(url.get(), CURLUPART_SCHEME, 0),
               .host = part_of(url.get(), CURLUPART_HOST, 0),
               .port = part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT),
               .path = part_of(url.get(), CURLUPART_PATH, 0)};
    if (parsed.scheme != "http" && parsed.scheme != "https") {
        return invalid_argument("URL scheme '" + parsed.scheme + "' is not http or https");
    }
    if (!part_of(url.get(), CURLUPART_USER, 0).empty() ||
        !part_of(url.get(), CURLUPART_PASSWORD, 0).empty()) {
        return invalid_argument("user name and password do not belong in a URL; use a header");
    }
    return parsed;
}

std::string with_path(std::string base, std::string_view path) {
    const std::size_t query = std::min(base.find('?'), base.size());
    std::size_t end = query;
    while (end > 0 && base[end - 1] == '/') --end;
    return base.replace(end, query - end, path);
}

bool is_sendable_key(std::string_view key) noexcept {
    return std::ranges::none_of(key, [](char c) { return c <= ' ' || c > '~'; });
}

}  // namespace braid::net
