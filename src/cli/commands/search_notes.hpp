#pragma once

#include <string>
#include <vector>

#include "braid/cli/session.hpp"

namespace braid::cli {

/// What a language model made of the query, in lines; of a result as JSON.
std::vector<std::string> other_words_of(const Value& result);

/// Warns of what a search could not do, and of keys of the request that had no effect.
void warn_of_search(const Session& session, const Value& result);

}  // namespace braid::cli
