#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/reader.hpp"
#include "braid/text/analyzer.hpp"

namespace braid::index {

/// A word, a pattern or a phrase of a query, in the terms of an index.
struct TreeLeaf {
    enum class Kind { Words, Prefix, Fuzzy };

    Kind kind = Kind::Words;
    /// Words: for each place, the terms of which one must be there. One place is a word, several
    /// are a phrase.
    std::vector<std::vector<std::string>> places;
    std::vector<std::uint32_t> offsets;  // of the places, in words, from the first
    std::uint32_t between = 0;  // phrases: how many other words may be among them, in any order
    // Patterns:
    std::string pattern;                 // as written
    std::string beginning;               // Prefix: of terms
    std::string term;                    // what the analyzer makes of the word
    std::uint32_t distance = 0;          // Fuzzy: how many characters of a term may differ
    std::optional<std::uint32_t> field;  // index into the schema's text fields; none: any
    double boost = 1;

    bool is_pattern() const noexcept { return kind != Kind::Words; }
    /// For a pattern: in how many characters a term differs from it; none: it does not match.
    std::optional<std::uint32_t> difference(std::string_view term) const;
};

struct TreeClause {
    QueryClause::Occur occur = QueryClause::Occur::Optional;
    std::optional<TreeLeaf> leaf;     // none: a group
    std::vector<TreeClause> clauses;  // of a group
};

/// A query in the query language, analysed for a collection.
struct WordTree {
    TreeClause root;  // a group
    Schema schema;
    text::Analyzer analyzer;

    /// Every term named, each once, and every pattern.
    std::vector<std::string> terms() const;
    std::vector<const TreeLeaf*> patterns() const;
};

/// Optional words are searched as in plain queries: without function words if there are others, and
/// with each term of a compound on its own. A word that must or must not occur counts as present if
/// all of its parts are. Whatever the analyzer turns into nothing is left out. InvalidArgument for
/// a field that the schema does not have.
Result<std::shared_ptr<const WordTree>> analyze_tree(const QueryClause& clause,
                                                     const Schema& schema,
                                                     const text::Analyzer& analyzer);

}  // namespace braid::index
