#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "braid/eval/queries.hpp"
#include "braid/eval/trec.hpp"
#include "braid/value.hpp"

namespace braid::eval {

/// How far two lists for one query agree, on the first `depth` documents of each.
struct QueryOverlap {
    std::string query;
    double overlap = 1;                      // share of the longer list that is in both
    double moved = 0;                        // mean number of ranks by which what is in both moved
    bool same_first = true;                  //
    bool same = true;                        // the same documents in the same order
    std::vector<std::string> first, second;  // documents

    friend bool operator==(const QueryOverlap&, const QueryOverlap&) = default;
};

/// Two ways of searching the same queries, side by side, without judgements: what differs, not
/// which is better.
struct RunOverlap {
    std::string first, second;  // names
    std::size_t depth = 10;
    std::vector<QueryOverlap> queries;  // those that differ most first
    double overlap = 1;                 // means
    double moved = 0;                   //
    std::size_t same_first = 0;         // queries
    std::size_t same = 0;               //
};

/// A query that one of the runs lacks has an empty list there.
RunOverlap overlap_of(const Run& first, const Run& second, std::size_t depth);

/// `{"first", "second", "depth", "queries", "overlap", "moved", "same_first", "same", "differ":
/// [{"query", "overlap", "moved", "same_first", "first": [...], "second": [...]}]}`, at most
/// `shown` of the queries that differ.
Value to_value(const RunOverlap& overlap, std::size_t shown);

/// The same for a terminal. Ends with a newline.
std::string to_text(const RunOverlap& overlap, std::span<const Query> queries, std::size_t shown);

/// One HTML page that needs nothing else.
std::string html_page(const RunOverlap& overlap, std::span<const Query> queries, std::size_t shown);

}  // namespace braid::eval
