#include "braid/retrieval/collections.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "braid/fusion/fuse.hpp"
#include "braid/retrieval/hydrate.hpp"
#include "braid/retrieval/receipt.hpp"

namespace braid::retrieval {
namespace {

constexpr std::string_view kArtifacts = "artifacts";
constexpr std::string_view kArtifactChunks = "artifact_chunks";

bool holds_artifacts(std::string_view collection) {
    return collection == kArtifacts || collection == kArtifactChunks;
}

std::string artifact_of(std::string_view collection, const Chunk& chunk) {
    const bool has_document = !chunk.document_id.empty() && chunk.document_id != chunk.chunk_id;
    if (holds_artifacts(collection) && has_document) return chunk.document_id;
    const Value* const named = chunk.metadata.find("artifact_id");
    if (named != nullptr && named->is_string() && !named->as_string().empty()) {
        return named->as_string();
    }
    return chunk.chunk_id;
}

/// Equal for what merges. The id comes first, so that ties are broken by it.
std::string key_of(std::string_view collection, std::string_view id) {
    std::string key(id);
    key += '\0';
    key += holds_artifacts(collection) ? kArtifacts : collection;
    return key;
}

/// Sorts the names into those that can be pinned and the others.
OpenedCollections sort_out(const Backend& backend, std::span<const std::string> names) {
    OpenedCollections opened;
    for (const std::string& name : names) {
        const auto pinned = backend.snapshot(std::span(&name, 1));
        if (pinned) {
            opened.found.push_back({.name = name, .schema = {}});
        } else if (pinned.error().code == ErrorCode::NotFound) {
            opened.missing.push_back(name);
        } else {
            opened.broken.emplace_back(name, pinned.error());
        }
    }
    return opened;
}

Error nothing_to_search(const OpenedCollections& opened) {
    if (!opened.broken.empty()) return opened.broken.front().second;
    std::string message = "there is none of the collections";
    for (const std::string& name : opened.missing) message += " \"" + name + "\"";
    return {ErrorCode::NotFound, std::move(message)};
}

std::vector<std::string> names_of(std::span<const CollectionPlan> collections) {
    std::vector<std::string> names;
    names.reserve(collections.size());
    for (const CollectionPlan& collection : collections) names.push_back(collection.name);
    return names;
}

}  // namespace

Result<OpenedCollections> open_collections(const Backend& backend,
                                           std::span<const std::string> names) {
    constexpr int attempts = 3;  // a collection may be dropped between two looks at it
    OpenedCollections opened;
    opened.found.reserve(names.size());
    for (const std::string& name : names) opened.found.push_back({.name = name, .schema = {}});
    for (int attempt = 0;; ++attempt) {
        auto snapshot = backend.snapshot(names_of(opened.found));
        if (snapshot) {
            opened.snapshot = *std::move(snapshot);
            break;
        }
        if (names.size() == 1 || attempt == attempts) {
            return tl::unexpected(std::move(snapshot).error());
        }
        opened = sort_out(backend, names);
        if (opened.found.empty()) return tl::unexpected(nothing_to_search(opened));
    }
    std::vector<CollectionPlan> readable;
    readable.reserve(opened.found.size());
    for (CollectionPlan& collection : opened.found) {
        auto schema = backend.schema(opened.snapshot, collection.name);
        if (schema) {
            collection.schema = *std::move(schema);
            readable.push_back(std::move(collection));
        } else {
            opened.broken.emplace_back(collection.name, std::move(schema).error());
        }
    }
    opened.found = std::move(readable);
    if (opened.found.empty()) return tl::unexpected(nothing_to_search(opened));
    return opened;
}

/// A collection's list, artifact by artifact.
struct CollectionMerge::Voters {
    std::vector<Candidate> best;  // of each artifact
    std::vector<std::string> keys;
    std::vector<fusion::Entry> entries;  // one for each; ids borrow from the keys
    std::unordered_map<std::string_view, std::size_t> by_key;
};

Result<std::vector<Candidate>> CollectionMerge::merge(std::vector<std::vector<Candidate>> lists) {
    listed_.resize(lists.size());
    BRAID_CHECK(fetch(lists));
    std::vector<Voters> voters;
    voters.reserve(lists.size());
    std::size_t before = 0;
    std::unordered_set<std::string> records;  // by what S4 merges before it removes duplicates
    for (std::size_t i = 0; i < lists.size(); ++i) {
        const std::string& name = work_.plan.collections[i].name;
        before += lists[i].size();
        for (const Candidate& candidate : lists[i]) {
            records.insert(key_of(name, candidate.chunk_id));
        }
        voters.push_back(voters_of(lists[i], i));
    }
    BRAID_TRY(std::vector<Candidate> merged, fused(voters));
    std::string names;
    for (const CollectionPlan& collection : work_.plan.collections) {
        names += (names.empty() ? "" : ",") + collection.name;
    }
    work_.log(LogEvent::Level::Info, "rrf_merge_completed",
              "collections_searched=" + names + " results_before_merge=" + std::to_string(before) +
                  " results_after_merge=" + std::to_string(records.size()));
    work_.log(LogEvent::Level::Info, "deduplication_completed",
              "results_before=" + std::to_string(records.size()) +
                  " results_after=" + std::to_string(merged.size()) +
                  " duplicates_removed=" + std::to_string(records.size() - merged.size()));
    return merged;
}

/// The chunks say what artifact they belong to. A collection that cannot be read is left out.
Result<> CollectionMerge::fetch(std::vector<std::vector<Candidate>>& lists) {
    std::optional<Error> first;
    bool any = false;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        auto fetched = fetch_chunks(work_, lists[i], false, work_.copying);
        any = any || fetched;
        if (fetched) continue;
        work_.fell_short("collection_failed", "the hits of collection \"" +
                                                  work_.plan.collections[i].name +
                                                  "\" cannot be read: " + fetched.error().message);
        lists[i].clear();
        if (!first) first = std::move(fetched).error();
    }
    if (!any && first) return tl::unexpected(*std::move(first));
    return {};
}

CollectionMerge::Voters CollectionMerge::voters_of(std::vector<Candidate>& list,
                                                   std::size_t collection) {
    const std::string& name = work_.plan.collections[collection].name;
    Voters voters;
    voters.keys.reserve(list.size());  // views of the keys must stay valid
    voters.entries.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto& chunk = list[i].chunk;
        if (!chunk) continue;
        std::string key = key_of(name, artifact_of(name, *chunk));
        if (seen_.contains(key) || voters.by_key.contains(key)) continue;
        const std::string_view id = voters.keys.emplace_back(std::move(key));
        voters.by_key.emplace(id, voters.best.size());
        voters.entries.push_back({id, list[i].receipt.score, listed_[collection] + i});
        voters.best.push_back(std::move(list[i]));
    }
    listed_[collection] += list.size();
    return voters;
}

Result<std::vector<Candidate>> CollectionMerge::fused(std::vector<Voters>& voters) {
    std::vector<fusion::RankedList> lists;
    lists.reserve(voters.size());
    for (std::size_t i = 0; i < voters.size(); ++i) {
        const CollectionPlan& collection = work_.plan.collections[i];
        lists.push_back({collection.name, collection.weight, voters[i].entries});
    }
    BRAID_TRY(const fusion::Fused fused, fusion::fuse(lists, work_.plan.across));
    std::vector<Candidate> merged;
    merged.reserve(fused.hits.size());
    for (const fusion::FusedHit& hit : fused.hits) {
        Receipt receipt = receipt_of(fused, hit, lists, work_.plan.across, Metric::Cosine);
        Candidate* shown = nullptr;
        for (std::size_t p = 0; p < hit.parts.size(); ++p) {
            const std::size_t list = hit.parts[p].list;
            Candidate& best = voters[list].best[voters[list].by_key.at(hit.id)];
            receipt.sources[p].chunk_id = best.chunk_id;
            receipt.sources[p].nested = std::make_shared<Receipt>(std::move(best.receipt));
            if (shown == nullptr || lists[list].source == kArtifactChunks) shown = &best;
        }
        seen_.emplace(hit.id);
        Candidate& candidate = merged.emplace_back(std::move(*shown));
        candidate.receipt = std::move(receipt);
    }
    return merged;
}

}  // namespace braid::retrieval
