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
    SnapshotPtr snapshot;               // of those found
    std::vector<CollectionPlan> found;  // with name and schema, in the order asked for
    std::vector<std::string> missing;
    std::vector<std::pair<std::string, Error>> broken;
};

/// Pins the named collections, without those that are missing or cannot be read. NotFound if there
/// is none at all; creates nothing.
Result<OpenedCollections> open_collections(const Backend& backend,
                                           std::span<const std::string> names);

/// Fuses the lists of several collections, band after band.
///
/// The unit is the artifact: `artifacts` and `artifact_chunks` know it by the same key, the
/// document's id; in any other collection it is `metadata.artifact_id`, else the chunk itself, and
/// merges with nothing outside of it. An artifact has one vote per collection, at the position of
/// its best chunk in the collection's list, and is shown by its chunk rather than by the whole.
class CollectionMerge {
public:
    explicit CollectionMerge(Work& work) : work_(work) {}

    /// `lists` are those of the plan's collections, in its order. Artifacts of earlier bands are
    /// left out.
    Result<std::vector<Candidate>> merge(std::vector<std::vector<Candidate>> lists);

private:
    struct Voters;

    Result<> fetch(std::vector<std::vector<Candidate>>& lists);
    Voters voters_of(std::vector<Candidate>& list, std::size_t collection);
    Result<std::vector<Candidate>> fused(std::vector<Voters>& voters);

    Work& work_;
    std::vector<std::size_t> listed_;       // by collection: hits of earlier bands
    std::unordered_set<std::string> seen_;  // artifacts of earlier bands
};

}  // namespace braid::retrieval
