#pragma once

#include <string>
#include <vector>

#include "braid/backend.hpp"

namespace braid::testing {

/// What a dump asks for.
struct DumpPlan {
    std::string collection;
    std::vector<std::string> namespaces{"default"};
    std::vector<std::string> queries;
    std::vector<QueryClause> clauses;
    std::vector<std::vector<float>> vectors;
    std::vector<Filter> filters;  // besides none
    std::vector<std::string> facet_fields;
    std::vector<std::string> chunk_ids;  // of score, rank_of, fetch
    std::vector<std::string> documents;  // of neighbors
    /// Versions as they are, left out, or named by the order in which the dump comes upon them:
    /// which are equal, and no more.
    enum class Versions { Whole, LeftOut, Named } versions = Versions::Whole;
};

/// Every answer of a snapshot to one principal, as text; numbers to the last bit, errors too. Two
/// states that the principal cannot tell apart give the same text.
std::string dump(const ReaderPtr& snapshot, const Principal& principal, const DumpPlan& plan);

/// The same of what does not take a snapshot: `collections` and `describe`.
std::string dump_collections(const Backend& backend, const Principal& principal,
                             const std::string& collection);

/// One chunk, all fields, numbers to the last bit.
std::string print_chunk(const Chunk& chunk, bool with_version = true);

}  // namespace braid::testing
