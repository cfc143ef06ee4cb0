#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "braid/result.hpp"

namespace braid::store {

/// The Error for a failed system call: "cannot <doing> <path>: <what errno means>".
Error posix_error(std::string_view doing, const std::string& path, int error_number);

/// The same as a failed Result.
inline auto fail_posix(std::string_view doing, const std::string& path, int error_number) {
    Error error = posix_error(doing, path, error_number);
    return fail(error.code, std::move(error.message));
}

}  // namespace braid::store
