#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "braid/result.hpp"
#include "braid/value.hpp"
#include "scenarios/scenario.hpp"

namespace braid::testing {

/// A way into braid, with an empty database behind it.
class Door {
public:
    Door() = default;
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;
    virtual ~Door() = default;

    virtual std::string name() const = 0;
    /// What the step gives, in the one JSON form; none if this door has no such verb. An error has
    /// the code alone.
    virtual std::optional<Result<Value>> run(const Step& step) = 0;
};

/// The C++ library, JSON-RPC, HTTP, MCP and the command line, the library first.
std::vector<std::unique_ptr<Door>> all_doors();

}  // namespace braid::testing
