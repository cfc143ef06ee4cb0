#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/index/word_tree.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

/// The query language as a query of a cluster (docs/decisions/0250).
namespace braid::remote {

/// A term that a pattern fits.
struct PatternTerm {
    std::string term;
    std::uint32_t difference = 0;  // see index::TreeLeaf
    std::uint64_t chunks = 0;      // that hold it
};
/// Of one pattern, the most frequent first.
using PatternTerms = std::vector<PatternTerm>;

/// A cluster refuses queries of more than 1,024 terms.
inline constexpr std::size_t kMostQueryTerms = 1'000;

/// Of each pattern, so many terms can be searched, beside the words of the tree.
std::size_t terms_of_a_pattern(const index::WordTree& tree);

/// Finds what the tree finds. A word scores as in a plain query, several terms that a pattern or a
/// compound stands for as one; those that must stand in one field or as a phrase score by how often
/// the chunk has them. `patterns`: in the order of tree.patterns(). InvalidArgument if it is too
/// long for a cluster.
Result<Value> tree_clause(const index::WordTree& tree, std::span<const PatternTerms> patterns);

/// A regular expression for texts that begin so.
std::string beginning_pattern(std::string_view beginning);

}  // namespace braid::remote
