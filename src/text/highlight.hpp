#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "braid/text/analyzer.hpp"

namespace braid::text {

/// Bytes [begin, end) of a text.
struct ByteRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// A window of a text. `text` borrows from the text it was chosen from; `matches` are offsets into
/// `text`, increasing and disjoint.
struct Snippet {
    std::string_view text;
    std::vector<ByteRange> matches;
    bool cut_before = false;  // the window does not start at the start of the text
    bool cut_after = false;
};

/// Shows where the terms that a query looks for stand in texts: query_terms(), or those given. Safe
/// for concurrent use.
class Highlighter {
public:
    /// `analyzer` must be the one the texts were indexed with; its copy is kept.
    Highlighter(Analyzer analyzer, std::string_view query);
    Highlighter(Analyzer analyzer, std::unordered_set<std::string> terms)
        : analyzer_(std::move(analyzer)), terms_(std::move(terms)) {}

    /// The stretches of `text` that hold a term of the query: increasing, disjoint; those that
    /// overlap or touch are joined.
    std::vector<ByteRange> matches(std::string_view text) const;

    /// The window of at most `code_points` code points with the most distinct query terms, then the
    /// most matches, then the earliest. It starts and ends between words where it can and never
    /// inside a character. Without a match it is the start of the text.
    Snippet snippet(std::string_view text, std::size_t code_points) const;

private:
    std::vector<Token> matching_tokens(std::string_view text) const;

    Analyzer analyzer_;
    std::unordered_set<std::string> terms_;
};

/// Like Highlighter::snippet, for matches that are known: increasing and disjoint ranges within
/// `text`. Matches that are written alike count as one term.
Snippet snippet_with(std::string_view text, const std::vector<ByteRange>& matches,
                     std::size_t code_points);

}  // namespace braid::text
