#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "braid/backend.hpp"
#include "braid/result.hpp"
#include "braid/retrieval/work.hpp"

namespace braid::retrieval {

/// The collections of a request as they were found.
struct OpenedCollections {
    ReaderPtr snapshot;                 // of those found
    std::vector<CollectionPlan> found;  // with name and schema, in the order asked for
    std::vector<std::string> missing;
    std::vector<std::pair<std::string, Error>> broken;
};

/// Pins the named collections, without those that are missing or cannot be read. NotFound if there
/// is none at all; creates nothing.
Result<OpenedCollections> open_collections(const Backend& backend,
                                           std::span<const std::string> names,
                                           const CallLimits& limits);

/// Makes one list of what several collections found, band after band.
///
/// Votes are counted by record: an id that `artifacts` and `artifact_chunks` both hold adds up
/// both; an artifact's whole and its chunks have different ids and do not. Then each artifact is
/// shown once: by its best chunk if one was found, else by the whole, each with its own score.
/// `artifacts` and `artifact_chunks` know an artifact by the same key, the document's id; in any
/// other collection it is `metadata.artifact_id`, else the chunk itself, and merges with nothing
/// outside of it.
class CollectionMerge {
public:
    explicit CollectionMerge(Work& work) : work_(work) {}

    /// By rank fusion. `lists` are those of the plan's collections, in its order. Artifacts of
    /// earlier bands are left out.
    Result<std::vector<Candidate>> merge(std::vector<std::vector<Candidate>> lists);
    /// The same of one list, whose scores compare as they are.
    Result<std::vector<Candidate>> collapse(std::vector<Candidate> pooled);

private:
    Result<> fetch(std::vector<std::vector<Candidate>>& lists);
    Result<std::vector<Candidate>> fused(std::vector<std::vector<Candidate>>& lists);
    std::vector<Candidate> one_per_artifact(std::vector<Candidate> records);

    Work& work_;
    std::vector<std::size_t> listed_;       // by collection: hits of earlier bands
    std::unordered_set<std::string> seen_;  // artifacts of earlier bands
};

}  // namespace braid::retrieval
