#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/net/http/server.hpp"
#include "braid/server/auth/api_keys.hpp"
#include "braid/server/auth/rate_limit.hpp"
#include "braid/server/http/problem.hpp"
#include "braid/types.hpp"

namespace braid::server {

/// Who sent a request.
struct Identity {
    Principal principal;
    const ApiKey* key = nullptr;  // null: somebody on this machine, who may do everything
    service::Namespaces namespaces{};

    bool may(service::Access access, std::string_view collection) const {
        return key == nullptr || key->grants.allow(access, collection);
    }
    /// Whether totals hide nothing from the caller.
    bool sees_all_collections() const {
        return principal.sees_everything() && namespaces.all() && may(service::Access::Admin, "*");
    }
    /// Distinguishes keys from local callers: no key has a name like theirs.
    std::string owner() const { return key == nullptr ? local : "key " + key->principal.name; }

    std::string local{};  // without a key: as whom its owner asks, as it was said
};

/// Why a request goes no further.
struct Refusal {
    DoorError error = DoorError::MalformedRequest;
    std::string detail;
    std::vector<net::HttpHeader> headers;
};

struct GateOptions {
    KeyRing keys;
    std::vector<std::string> hosts;
    std::vector<std::string> origins;
    double requests_per_second = 0;
};

/// Decides from the head of a request alone whether it may come in. Safe for concurrent use.
class HttpGate {
public:
    explicit HttpGate(GateOptions options);

    /// A foreign name in "Host" means that somebody else's name leads here (DNS rebinding); a
    /// foreign "Origin" means that a foreign web page is calling.
    std::optional<Refusal> check_address(const net::IncomingRequest& head) const;
    /// The caller, by "Authorization: Bearer" or "X-Api-Key"; if no keys are configured, anybody on
    /// this machine. On a Unix socket, its owner, who needs no key and may say on whose behalf.
    std::optional<Refusal> identify(const net::IncomingRequest& head, Identity& identity) const;
    /// A batch of n counts as n: `count` requests proceed together or not at all.
    std::optional<Refusal> check_rate(const Identity& identity, std::size_t count = 1);

    /// The origin a response must name, if the request came from a web page that may call.
    std::optional<std::string> shared_with(const net::IncomingRequest& head) const;

private:
    GateOptions options_;
    RateLimiter rates_;
};

}  // namespace braid::server
