#pragma once

#include <cstddef>
#include <string_view>

#include "braid/result.hpp"

/// Bounds of parameters: InvalidArgument names the parameter and the bound.
namespace braid::service {

Result<> at_most(std::string_view key, std::size_t value, std::size_t limit);

/// An integer from `min` to `max`.
Result<> from_to(std::string_view key, std::size_t value, std::size_t min, std::size_t max);

/// A list of 1 to `limit` ids.
Result<> some_ids(std::string_view key, std::size_t count, std::size_t limit);

/// A list of 1 to `limit` members, which messages call `members`.
Result<> some_members(std::string_view key, std::size_t count, std::size_t limit,
                      std::string_view members = "members");

/// Text that is not blank, of at most `limit` bytes.
Result<> some_text(std::string_view key, std::string_view text, std::size_t limit);

}  // namespace braid::service
