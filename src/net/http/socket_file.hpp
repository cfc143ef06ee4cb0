#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <sys/types.h>

#include "braid/result.hpp"

namespace braid::net {

/// The longest path a Unix socket can have, in bytes.
std::size_t max_socket_path() noexcept;

/// Whether somebody accepts connections there.
bool is_listening(const std::string& path);
/// The user who does; nullopt if nobody does.
std::optional<uid_t> listener_at(const std::string& path);

/// A new Unix socket that listens at `path`, for its owner only; a descriptor. Replaces a socket
/// that nobody listens at. Locked if somebody does; AlreadyExists if there is another kind of file.
Result<int> listen_at(const std::string& path);

}  // namespace braid::net
