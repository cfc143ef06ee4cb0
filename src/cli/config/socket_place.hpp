#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "braid/result.hpp"

namespace braid::cli {

/// Where the program that serves a database listens for others on this machine: `braid.sock` in the
/// database's folder. If that path is too long for a socket, it is elsewhere, in a folder of the
/// user's own, and the file `braid.sock.path` says where.

/// For the server: the path, its folder made if needed. The database's folder exists.
Result<std::string> choose_socket(const std::filesystem::path& data);
/// For other programs: the socket that this user listens on, if there is one. A socket, or a file
/// that says where it is, that belongs to another user or is open to others is ignored: whoever
/// answers there would be given the caller's questions and texts.
std::optional<std::string> served_socket(const std::filesystem::path& data);
/// Why a usable socket is ignored; empty if none is.
std::string distrusted_socket(const std::filesystem::path& data);
/// After serving: removes what choose_socket() left besides the socket.
void forget_socket(const std::filesystem::path& data);

}  // namespace braid::cli
