#pragma once

#include <string>
#include <string_view>

#include "braid/result.hpp"

namespace braid::net {

/// A URL that this client is willing to send to, taken apart.
struct Url {
    std::string scheme;  // "http" or "https"
    std::string host;    // without its port
    std::string port;    // never empty
    std::string path;

    bool same_origin(const Url& other) const noexcept {
        return scheme == other.scheme && host == other.host && port == other.port;
    }
    /// Without query and fragment, which may hold keys.
    std::string without_secrets() const { return scheme + "://" + host + ":" + port + path; }
};

/// InvalidArgument for other schemes, for user names and passwords in the URL, and for what is no
/// URL; the message does not repeat it.
Result<Url> parse_url(const std::string& text);

/// The base URL with `path` after its own ("/v1" and "/embeddings" give "/v1/embeddings"), before
/// its query string if it has one.
std::string with_path(std::string base, std::string_view path);

/// Whether an API key can stand in a header: printable ASCII, without spaces.
bool is_sendable_key(std::string_view key) noexcept;

}  // namespace braid::net
