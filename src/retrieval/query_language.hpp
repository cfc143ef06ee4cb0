#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/reader.hpp"

namespace braid::retrieval {

/// A text read as query language.
struct ParsedQuery {
    std::optional<QueryClause> clause;  // a group; none: it cannot be read so
    std::string problem;                // then: why, and where
    std::vector<std::string> notes;     // what looks like an operator and was taken as text
};

/// Reads a query of a collection with these text fields. Linear in its length; a query with more
/// clauses, patterns or levels of parentheses than there may be is none.
///
///     query  = clause*
///     clause = ['+' | '-'] [FIELD ':'] (WORD | PREFIX '*' | WORD '~' [1-2] | '"' text '"' ['~' N]
///              | '(' query ')') ['^' NUMBER]
///
/// A backslash makes any character plain text.
ParsedQuery parse_query(std::string_view text, std::span<const TextField> fields);

inline constexpr std::size_t kMostClauses = 1024;
inline constexpr std::size_t kMostPatterns = 16;
inline constexpr std::size_t kMostNested = 32;

/// A clause as it would be written: what parse_query makes the same clause of. Fields and boosts
/// stand at each word.
std::string written(const QueryClause& clause);

/// The words that it looks for, without operators: what stands for it where there are none.
std::string plain_text(const QueryClause& clause);

/// Whether some chunks that hold its words are not found: it says what must or must not be there.
bool is_strict(const QueryClause& clause);

}  // namespace braid::retrieval
