#pragma once

#include <string>
#include <vector>

#include "braid/cli/session.hpp"

namespace braid::cli {

/// Prints an answer, for people or as JSON. `explain`: with the arithmetic of every score.
void show_answer(const Session& session, const Answer& answer, bool explain);

/// Warns of what a search could not do, and of keys of the request that had no effect.
void warn_of_search(const Session& session, const std::vector<std::string>& warnings,
                    const std::vector<std::string>& unused);

}  // namespace braid::cli
