#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::testing {

/// One line of a scenario, and what must come of it.
struct Step {
    std::size_t line = 0;
    std::string verb;        // "add", "retrieve", ...
    std::string collection;  // of verbs that name one before their parameters
    Object params;
    std::vector<std::pair<std::string, Value>> expected;  // "ids", "scores", "error", ...
};

struct Scenario {
    std::string name;
    std::vector<Step> steps;
};

/// Reads a text such as
///
///     # what it shows
///     create notes {"embedder": "none"}
///     add notes {"chunk_id": "a", "content": "red fox"}
///     retrieve {"query": "fox", "collection": "notes"}
///       ids ["a"]
///
/// Lines of an indented name and a value say what the step before must give. InvalidArgument names
/// the line.
Result<Scenario> parse_scenario(const std::string& name, const std::string& text);

}  // namespace braid::testing
