#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "braid/database.hpp"
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

/// What the doors lead to: the embedded engine, or another backend.
struct Behind {
    std::function<Database()> database;  // a new, empty one
    /// For the program, on an empty database of its own.
    std::function<std::vector<std::pair<std::string, std::string>>()> environment{};
    double score_tolerance = 1e-12;  // of scores that were computed by hand
    /// Capabilities that are not promised: "live_scores" need live_df, steps may say what they
    /// need.
    std::set<std::string> lacks{};
};

/// The C++ library, JSON-RPC, HTTP, MCP and the command line, the library first.
std::vector<std::unique_ptr<Door>> all_doors(const Behind& behind);

}  // namespace braid::testing
