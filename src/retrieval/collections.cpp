#include "braid/retrieval/collections.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_map>

#include "braid/fusion/fuse.hpp"
#include "braid/retrieval/hydrate.hpp"
#include "braid/retrieval/receipt.hpp"

namespace braid::retrieval {
namespace {

/// Sorts the names into those that can be pinned and the others.
OpenedCollections sort_out(const Backend& backend, std::span<const std::string> names,
                           const CallLimits& limits) {
    OpenedCollections opened;
    for (const std::string& name : names) {
        const auto pinned = backend.snapshot(std::span(&name, 1), limits);
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
    std::string message = "none of these collections exists:";
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
                                           std::span<const std::string> names,
                                           const CallLimits& limits) {
    constexpr int attempts = 3;  // a collection may be dropped between two looks at it
    OpenedCollections opened;
    opened.found.reserve(names.size());
    for (const std::string& name : names) opened.found.push_back({.name = name, .schema = {}});
    for (int attempt = 0;; ++attempt) {
        auto snapshot = backend.snapshot(names_of(opened.found), limits);
        if (snapshot) {
            opened.snapshot = *std::move(snapshot);
            break;
        }
        if (names.size() == 1 || attempt == attempts) {
            return tl::unexpected(std::move(snapshot).error());
        }
        opened = sort_out(backend, names, limits);
        if (opened.found.empty()) return tl::unexpected(nothing_to_search(opened));
    }
    std::vector<CollectionPlan> readable;
    readable.reserve(opened.found.size());
    for (CollectionPlan& collection : opened.found) {
        auto schema = opened.snapshot->schema(collection.name);
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

const core::SharedDocuments* CollectionMerge::sharing(std::string_view collection) const {
    const auto found = std::ranges::find_if(vocabulary_.shared_documents, [&](const auto& shared) {
        return std::ranges::find(shared.collections, collection) != shared.collections.end();
    });
    return found == vocabulary_.shared_documents.end() ? nullptr : &*found;
}

bool CollectionMerge::is_preferred(std::string_view collection) const {
    const core::SharedDocuments* const shared = sharing(collection);
    return shared != nullptr && shared->preferred == collection;
}

std::string CollectionMerge::document_of(std::string_view collection, const Chunk& chunk) const {
    const bool has_document = !chunk.document_id.empty() && chunk.document_id != chunk.chunk_id;
    if (has_document && sharing(collection) != nullptr) return chunk.document_id;
    const Value* const named =
        vocabulary_.document_key.empty() ? nullptr : chunk.metadata.find(vocabulary_.document_key);
    if (named != nullptr && named->is_string() && !named->as_string().empty()) {
        return named->as_string();
    }
    return chunk.chunk_id;
}

/// Equal for what merges. The id comes first, so that ties are broken by it.
std::string CollectionMerge::key_of(std::string_view collection, std::string_view id) const {
    const core::SharedDocuments* const shared = sharing(collection);
    std::string key(id);
    key += '\0';
    key += shared != nullptr ? std::string_view(shared->collections.front()) : collection;
    return key;
}

Result<std::vector<Candidate>> CollectionMerge::merge(std::vector<std::vector<Candidate>> lists) {
    listed_.resize(lists.size());
    BRAID_CHECK(fetch(lists));
    std::size_t before = 0;
    std::string names;
    for (std::size_t i = 0; i < lists.size(); ++i) {
        before += lists[i].size();
        names += (names.empty() ? "" : ",") + work_.plan.collections[i].name;
    }
    BRAID_TRY(std::vector<Candidate> records, fused(lists));
    work_.log(LogEvent::Level::Info, "rrf_merge_completed",
              "collections_searched=" + names + " results_before_merge=" + std::to_string(before) +
                  " results_after_merge=" + std::to_string(records.size()));
    return one_per_document(std::move(records));
}

Result<std::vector<Candidate>> CollectionMerge::collapse(std::vector<Candidate> pooled) {
    std::vector<std::vector<Candidate>> lists(work_.plan.collections.size());
    for (Candidate& candidate : pooled) {
        lists[candidate.collection].push_back(std::move(candidate));
    }
    BRAID_CHECK(fetch(lists));
    pooled.clear();
    for (auto& list : lists) std::ranges::move(list, std::back_inserter(pooled));
    std::ranges::stable_sort(pooled, ranks_before);
    return one_per_document(std::move(pooled));
}

/// The chunks say what document they belong to. A collection that cannot be read is left out.
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

/// One candidate for each record, by score, then id.
Result<std::vector<Candidate>> CollectionMerge::fused(std::vector<std::vector<Candidate>>& lists) {
    std::vector<std::vector<std::string>> keys(lists.size());  // entries borrow them
    std::vector<std::vector<fusion::Entry>> entries(lists.size());
    std::vector<std::unordered_map<std::string_view, Candidate*>> by_key(lists.size());
    std::vector<fusion::RankedList> ranked;
    ranked.reserve(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
        const CollectionPlan& collection = work_.plan.collections[i];
        keys[i].reserve(lists[i].size());
        for (std::size_t p = 0; p < lists[i].size(); ++p) {
            Candidate& candidate = lists[i][p];
            const std::string_view id =
                keys[i].emplace_back(key_of(collection.name, candidate.chunk_id));
            entries[i].push_back({id, candidate.receipt.score, listed_[i] + p});
            by_key[i].emplace(id, &candidate);
        }
        listed_[i] += lists[i].size();
        ranked.push_back({collection.name, collection.weight, entries[i]});
    }
    BRAID_TRY(const fusion::Fused fused, fusion::fuse(ranked, work_.plan.across));
    std::vector<Candidate> records;
    records.reserve(fused.hits.size());
    const auto common =
        std::make_shared<const Receipt>(common_receipt(fused, ranked, work_.plan.across));
    for (const fusion::FusedHit& hit : fused.hits) {
        Receipt receipt = receipt_of(fused, hit, ranked, Metric::Cosine);
        Candidate* shown = nullptr;
        for (std::size_t p = 0; p < hit.parts.size(); ++p) {
            const std::size_t list = hit.parts[p].list;
            Candidate& record = *by_key[list].at(hit.id);
            receipt.sources[p].chunk_id = record.chunk_id;
            complete_receipt(record);
            receipt.sources[p].nested = std::make_shared<Receipt>(std::move(record.receipt));
            if (shown == nullptr || is_preferred(ranked[list].source)) shown = &record;
        }
        Candidate& candidate = records.emplace_back(std::move(*shown));
        candidate.receipt = std::move(receipt);
        candidate.common = common;
    }
    return records;
}

std::vector<Candidate> CollectionMerge::one_per_document(std::vector<Candidate> records) {
    const std::size_t before = records.size();
    std::vector<Candidate> shown;
    std::unordered_map<std::string, std::size_t> places;  // of documents among those shown
    const auto is_chunk = [&](const Candidate& candidate) {
        return is_preferred(work_.plan.collections[candidate.collection].name);
    };
    for (Candidate& record : records) {
        if (!record.chunk) continue;
        const std::string& name = work_.plan.collections[record.collection].name;
        std::string key = key_of(name, document_of(name, *record.chunk));
        if (seen_.contains(key)) continue;
        const auto [place, first] = places.try_emplace(std::move(key), shown.size());
        if (first) {
            shown.push_back(std::move(record));
        } else if (is_chunk(record) && !is_chunk(shown[place->second])) {
            shown[place->second] = std::move(record);  // says more precisely where to look
        }
    }
    std::ranges::stable_sort(shown, ranks_before);
    for (auto& [key, place] : places) seen_.insert(key);
    work_.log(LogEvent::Level::Info, "deduplication_completed",
              "results_before=" + std::to_string(before) +
                  " results_after=" + std::to_string(shown.size()) +
                  " duplicates_removed=" + std::to_string(before - shown.size()));
    return shown;
}

}  // namespace braid::retrieval
