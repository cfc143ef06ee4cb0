#include <array>

#include "braid/result.hpp"

namespace braid {
namespace {

// JSON-RPC: -32602 is "invalid params"; -32000 ... -32019 are free for applications.
constexpr std::array<ErrorFacts, 15> kErrorFacts{{
    {ErrorCode::InvalidArgument, "invalid_argument", 400, -32602, 2},
    {ErrorCode::NotFound, "not_found", 404, -32001, 3},
    {ErrorCode::AlreadyExists, "already_exists", 409, -32002, 1},
    {ErrorCode::Conflict, "conflict", 409, -32003, 1},
    {ErrorCode::Corruption, "corruption", 500, -32004, 4},
    {ErrorCode::IoError, "io_error", 500, -32005, 1},
    {ErrorCode::ReadOnly, "read_only", 503, -32006, 1},
    {ErrorCode::Locked, "locked", 503, -32007, 5},
    {ErrorCode::PermissionDenied, "permission_denied", 403, -32008, 1},
    {ErrorCode::DeadlineExceeded, "deadline_exceeded", 504, -32009, 1},
    {ErrorCode::Cancelled, "cancelled", 499, -32010, 130},
    {ErrorCode::ResourceExhausted, "resource_exhausted", 429, -32011, 1},
    {ErrorCode::Unavailable, "unavailable", 503, -32012, 1},
    {ErrorCode::Unsupported, "unsupported", 501, -32013, 1},
    {ErrorCode::StorageFull, "storage_full", 507, -32014, 1},
}};

}  // namespace

const ErrorFacts& error_facts(ErrorCode code) noexcept {
    return kErrorFacts[static_cast<std::size_t>(code)];
}

std::optional<ErrorCode> error_code_by_name(std::string_view name) noexcept {
    for (const ErrorFacts& facts : kErrorFacts) {
        if (facts.name == name) return facts.code;
    }
    return std::nullopt;
}

}  // namespace braid
