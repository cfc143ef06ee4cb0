#pragma once

#include <array>
#include <string>
#include <string_view>

#include "braid/net/http/server.hpp"
#include "braid/result.hpp"

namespace braid::server {

/// What the HTTP door itself refuses; the errors behind it are those of error_facts.
enum class DoorError {
    MalformedRequest,
    Unauthenticated,
    AddressRefused,
    OriginRefused,
    NoSuchRoute,
    MethodNotAllowed,
    NotAcceptable,
    RequestTimeout,
    IdempotencyRunning,
    PayloadTooLarge,
    UnsupportedMediaType,
    MisdirectedRequest,
    IdempotencyMismatch,
    RateLimited,
    HeadTooLarge,
    InternalError,
    Overloaded,
    Draining,
    WritesRefused,
};

struct DoorErrorFacts {
    DoorError error;
    std::string_view name;  // stable, in JSON: "rate_limited"
    int http_status;
};

inline constexpr std::array<DoorErrorFacts, 19> kDoorErrors{{
    {DoorError::MalformedRequest, "malformed_request", 400},
    {DoorError::Unauthenticated, "unauthenticated", 401},
    {DoorError::AddressRefused, "address_refused", 403},
    {DoorError::OriginRefused, "origin_refused", 403},
    {DoorError::NoSuchRoute, "no_such_route", 404},
    {DoorError::MethodNotAllowed, "method_not_allowed", 405},
    {DoorError::NotAcceptable, "not_acceptable", 406},
    {DoorError::RequestTimeout, "request_timeout", 408},
    {DoorError::IdempotencyRunning, "idempotency_running", 409},
    {DoorError::PayloadTooLarge, "payload_too_large", 413},
    {DoorError::UnsupportedMediaType, "unsupported_media_type", 415},
    {DoorError::MisdirectedRequest, "misdirected_request", 421},
    {DoorError::IdempotencyMismatch, "idempotency_mismatch", 422},
    {DoorError::RateLimited, "rate_limited", 429},
    {DoorError::HeadTooLarge, "head_too_large", 431},
    {DoorError::InternalError, "internal_error", 500},
    {DoorError::Overloaded, "overloaded", 503},
    {DoorError::Draining, "draining", 503},
    {DoorError::WritesRefused, "writes_refused", 503},
}};

constexpr const DoorErrorFacts& facts_of(DoorError error) {
    return kDoorErrors[static_cast<std::size_t>(error)];
}

/// RFC 9457: `{"type": "about:blank", "title": "Not Found", "status": 404, "detail": "...",
/// "instance": request id, "code": "not_found"}` as application/problem+json.
net::OutgoingResponse problem(const Error& error, std::string_view instance);
net::OutgoingResponse problem(DoorError error, std::string_view detail, std::string_view instance);

}  // namespace braid::server
