#pragma once

#include <functional>
#include <span>
#include <string>

#include "braid/cli/args/arguments.hpp"
#include "braid/cli/session.hpp"
#include "braid/result.hpp"

namespace braid::cli {

struct ServeOptions {
    bool any_port = false;  // if the port is taken, use another
    /// Told where the page is, once the server answers.
    std::function<void(const std::string& address)> listening{};
};

/// Serves the database as the flags of `serve` say, until the program is told to stop.
Result<> serve_database(Session& session, const ServeOptions& wishes);

std::span<const FlagSpec> serve_flags();

}  // namespace braid::cli
