#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace braid {

/// Everything that can go wrong outside the program. `error_facts` maps each to every door's code.
enum class ErrorCode {
    InvalidArgument,
    NotFound,
    AlreadyExists,
    Conflict,
    Corruption,
    IoError,
    ReadOnly,
    Locked,
    PermissionDenied,
    DeadlineExceeded,
    Cancelled,
    ResourceExhausted,
    Unavailable,
    Unsupported,
    StorageFull,
};

struct Error {
    ErrorCode code;
    std::string message;  // what was attempted, on what, why it failed

    friend bool operator==(const Error&, const Error&) = default;
};

/// How one error code shows at each door.
struct ErrorFacts {
    ErrorCode code;
    std::string_view name;  // stable, in JSON: "invalid_argument"
    int http_status;
    int rpc_code;
    int exit_code;
};

/// The one table; defined in src/core/error_facts.cpp.
const ErrorFacts& error_facts(ErrorCode code) noexcept;
/// The inverse of ErrorFacts::name.
std::optional<ErrorCode> error_code_by_name(std::string_view name) noexcept;

/// A value or the reason there is none. Ignoring one is a compiler warning.
template <class T = void>
class [[nodiscard]] Result : public tl::expected<T, Error> {
    using Base = tl::expected<T, Error>;

public:
    using Base::Base;
    Result(Base base) : Base(std::move(base)) {}  // NOLINT(google-explicit-constructor): and_then()
};

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
    return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// The commonest failure: what the caller gave cannot be right.
inline tl::unexpected<Error> invalid_argument(std::string message) {
    return fail(ErrorCode::InvalidArgument, std::move(message));
}

/// Passes an error on, with what was being done put before its message.
inline tl::unexpected<Error> fail(std::string_view doing, Error error) {
    error.message.insert(0, std::string(doing) + ": ");
    return tl::unexpected<Error>(std::move(error));
}

}  // namespace braid

#define BRAID_CONCAT_INNER(a, b) a##b
#define BRAID_CONCAT(a, b) BRAID_CONCAT_INNER(a, b)
#define BRAID_TRY_INNER(result, declaration, ...)                                  \
    auto result = (__VA_ARGS__);                                                   \
    if (!result) return tl::unexpected<::braid::Error>(std::move(result).error()); \
    declaration = *std::move(result)

/// `BRAID_TRY(auto header, read_header(file));` binds the value or returns the error.
#define BRAID_TRY(declaration, ...) \
    BRAID_TRY_INNER(BRAID_CONCAT(braid_result_, __LINE__), declaration, __VA_ARGS__)

/// `BRAID_CHECK(file.sync());` returns the error, if there is one.
#define BRAID_CHECK(...)                                                            \
    do {                                                                            \
        if (auto braid_status = (__VA_ARGS__); !braid_status)                       \
            return tl::unexpected<::braid::Error>(std::move(braid_status).error()); \
    } while (false)
