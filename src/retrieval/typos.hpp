#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "braid/answer.hpp"
#include "braid/backend.hpp"
#include "braid/reader.hpp"
#include "braid/request.hpp"

namespace braid::retrieval {

/// A sparse leg that searched the plain query, and the terms of it that no chunk of its collection
/// holds (LegResult::absent).
struct SearchedWords {
    const Leg* leg = nullptr;
    const std::vector<std::string>* absent = nullptr;
};

/// Which words nearest to a word of the query are to be searched beside it, where no chunk of these
/// collections holds that word: those that differ in one letter, or, if there are none, in two.
/// Together they count half of what a word counts, two letters off a third, each by how many chunks
/// hold it. Numbers, names with digits or signs, words in capitals and short ones are never
/// touched. The legs are of one snapshot. What the principal of their scopes may not see has no
/// part in it. Nothing where a backend lacks the query language, or a collection uses Okapi's
/// statistics, which are those of every word.
std::vector<Correction> find_typos(const Reader& snapshot, const Request& request,
                                   const Capabilities& can, std::span<const SearchedWords> legs);

/// Has the leg search the query with the corrections for its collection: a clause instead of
/// phrasings. The other words count as they did. Unchanged if there are none.
Result<> correct_typos(const Reader& snapshot, std::string_view query,
                       std::span<const Correction> corrections, Leg& leg);

/// Whether a word may be a misspelt one: letters only, at least four, not all of them capitals, nor
/// one inside.
bool may_be_misspelt(std::string_view word);

}  // namespace braid::retrieval
