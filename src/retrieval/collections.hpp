#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "braid/backend.hpp"
#include "braid/core/vocabulary.hpp"
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
/// Votes are counted by record: an id that several collections of one SharedDocuments hold adds up
/// their votes; a document's whole and its chunks have different ids and do not. Then each document
/// is shown once: by its best chunk of the preferred collection if one was found, else by its best
/// record, each with its own score. Collections that share documents know one by its id; in any
/// other it is what the vocabulary's document key says, else the chunk itself, and merges with
/// nothing outside of that collection.
class CollectionMerge {
public:
    /// Both must outlive it.
    CollectionMerge(Work& work, const core::Vocabulary& vocabulary)
        : work_(work), vocabulary_(vocabulary) {}

    /// By rank fusion. `lists` are those of the plan's collections, in its order. Documents of
    /// earlier bands are left out.
    Result<std::vector<Candidate>> merge(std::vector<std::vector<Candidate>> lists);
    /// The same of one list, whose scores compare as they are.
    Result<std::vector<Candidate>> collapse(std::vector<Candidate> pooled);

private:
    Result<> fetch(std::vector<std::vector<Candidate>>& lists);
    Result<std::vector<Candidate>> fused(std::vector<std::vector<Candidate>>& lists);
    std::vector<Candidate> one_per_document(std::vector<Candidate> records);

    /// The collections that share documents with this one; null: none does.
    const core::SharedDocuments* sharing(std::string_view collection) const;
    bool is_preferred(std::string_view collection) const;
    std::string document_of(std::string_view collection, const Chunk& chunk) const;
    std::string key_of(std::string_view collection, std::string_view id) const;

    Work& work_;
    const core::Vocabulary& vocabulary_;
    std::vector<std::size_t> listed_;       // by collection: hits of earlier bands
    std::unordered_set<std::string> seen_;  // documents of earlier bands
};

}  // namespace braid::retrieval
