#pragma once

#include <string>

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

}  // namespace braid::net
