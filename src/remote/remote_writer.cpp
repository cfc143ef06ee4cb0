#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <unordered_set>
#include <utility>

#include "braid/docs/chunk_codec.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/index/ids.hpp"
#include "braid/index/prepared.hpp"
#include "braid/index/write_rules.hpp"
#include "braid/json/json.hpp"
#include "braid/remote/bulk.hpp"
#include "braid/remote/filter_query.hpp"
#include "braid/remote/leg_query.hpp"
#include "braid/remote/remote_backend.hpp"
#include "braid/remote/remote_reader.hpp"

namespace braid::remote {
namespace {

constexpr int kRounds = 5;  // of reading and writing again after somebody came between
constexpr std::size_t kSelectPage = 2'000;

/// Says nothing but that a chunk changed.
Version new_version() {
    constexpr Version kMost = (Version{1} << 53U) - 1;
    thread_local std::random_device random;
    std::uniform_int_distribution<Version> any(1, kMost);
    return any(random);
}

tl::unexpected<Error> wrong_version(const std::string& id, Version found, Version expected) {
    return fail(ErrorCode::Conflict, "chunk \"" + id + "\" has version " + std::to_string(found) +
                                         ", not " + std::to_string(expected));
}

/// The write as a whole: what was done, or why not all of it.
Result<WriteReport> sum_up(std::span<const BulkOperation> operations,
                           std::span<const BulkOutcome> outcomes, Version version) {
    using Kind = BulkOutcome::Kind;
    WriteReport report{.version = version};
    std::uint64_t removed = 0;
    std::size_t refused = 0;
    const BulkOperation* first_refused = nullptr;
    Error why;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const bool writes = operations[i].version != 0;
        switch (outcomes[i].kind) {
            case Kind::Replaced:
                ++report.replaced;
                [[fallthrough]];
            case Kind::Created:
                ++report.written;
                break;
            case Kind::Removed:
                ++removed;
                break;
            case Kind::Absent:
                break;
            default:
                if (refused++ > 0) break;
                first_refused = &operations[i];
                why = outcomes[i].kind == Kind::Conflict
                          ? Error{ErrorCode::Conflict,
                                  writes ? "it was changed by somebody else meanwhile"
                                         : "it was changed by somebody else before its removal"}
                          : outcomes[i].error;
        }
    }
    report.removed = removed;
    if (refused == 0) return report;
    std::string message = "chunk \"" + index::shown(first_refused->chunk_id) + "\": " + why.message;
    if (operations.size() > 1) {
        message += "; of " + std::to_string(operations.size()) + " changes, " +
                   std::to_string(operations.size() - refused) +
                   " were made and are kept: a cluster does not write batches whole";
    }
    return fail(why.code, std::move(message));
}

}  // namespace

Result<> RemoteBackend::check_batch(std::vector<Chunk>& chunks, const RemoteCollection& collection,
                                    const WriteOptions& options) const {
    const Schema& schema = collection.meta.schema;
    const auto& made_by = schema.vectors.fingerprint;
    if (options.vectors_by && made_by && !made_by->hard_equal(*options.vectors_by)) {
        return fail(ErrorCode::Conflict, "the vectors of collection \"" +
                                             collection.meta.collection + "\" are made by \"" +
                                             made_by->model + "\", those of the batch by \"" +
                                             options.vectors_by->model + "\"");
    }
    std::size_t expected = collection.meta.dimension;
    if (expected == 0) expected = chunks.front().vector.size();
    std::unordered_set<std::string_view> seen;
    for (Chunk& chunk : chunks) {
        auto valid = index::check_chunk(chunk, schema);
        if (valid && schema.vectors.has_vectors()) {
            std::size_t shown = expected;
            if (chunk.vector.size() != expected && collection.meta.dimension != 0) {
                BRAID_TRY(shown, visible_dimension(collection, options.principal, options.limits));
            }
            valid = index::check_vector(chunk.vector, expected, shown, schema.vectors.metric);
        }
        if (valid) valid = index::check_characters(chunk);
        if (!valid) return fail("chunk \"" + index::shown(chunk.chunk_id) + "\"", valid.error());
        if (!seen.insert(chunk.chunk_id).second) {
            return invalid_argument("chunk \"" + chunk.chunk_id + "\" stands twice in one batch");
        }
    }
    return {};
}

Result<RemoteCollectionPtr> RemoteBackend::with_dimension(RemoteCollectionPtr collection,
                                                          std::size_t dimension,
                                                          const CallLimits& limits) {
    if (collection->meta.dimension != 0 || dimension == 0) return collection;
    IndexMeta meta = collection->meta;
    meta.dimension = dimension;
    if (dimension > kMostDimensions) {
        return fail(ErrorCode::Unsupported, "a cluster holds vectors of at most " +
                                                std::to_string(kMostDimensions) + " dimensions");
    }
    const auto changed = core_->client().ask("PUT", collection->path + "/_mapping",
                                             json::print(mapping_body(meta)), limits);
    BRAID_TRY(RemoteCollectionPtr now, core_->find_now(meta.collection, limits));
    if (now->meta.dimension == dimension) return now;
    if (now->meta.dimension == 0) return tl::unexpected<Error>(changed.error());
    return invalid_argument("a vector of " + std::to_string(dimension) +
                            " dimensions cannot be stored here");  // somebody was quicker
}

Result<std::vector<RemoteBackend::Named>> RemoteBackend::select(const RemoteCollection& collection,
                                                                const ReadScope& scope,
                                                                Array clauses,
                                                                const CallLimits& limits) const {
    BRAID_TRY(Array all, scope_clauses(scope, collection.meta.schema));
    all.insert(all.end(), std::make_move_iterator(clauses.begin()),
               std::make_move_iterator(clauses.end()));
    std::vector<Named> found;
    for (std::string last;;) {
        SearchItem item;
        item.index = collection.index;
        item.body = {{"size", Value(kSelectPage)},  {"_source", Array{"id", "version"}},
                     {"seq_no_primary_term", true}, {"track_total_hits", false},
                     {"query", all_of(all)},        {"sort", Array{Object{{"id", "asc"}}}}};
        if (!last.empty()) item.body.set("search_after", Array{Value(last)});
        BRAID_TRY(const Value answer, core_->search_one(std::move(item), limits));
        for (const Value& hit : hits_of(answer)) {
            const Value* const source = hit.find("_source");
            const Value* const id = source != nullptr ? source->find("id") : nullptr;
            const Value* const version = source != nullptr ? source->find("version") : nullptr;
            const Value* const sequence = hit.find("_seq_no");
            const Value* const term = hit.find("_primary_term");
            if (id == nullptr || !id->is_string() || version == nullptr || !version->is_int() ||
                sequence == nullptr || !sequence->is_int() || term == nullptr || !term->is_int()) {
                return fail(ErrorCode::Unavailable,
                            "a hit of the cluster does not say its version");
            }
            found.push_back({id->as_string(),
                             static_cast<Version>(version->as_int()),
                             {.sequence = sequence->as_int(), .term = term->as_int()}});
        }
        if (hits_of(answer).size() < kSelectPage) return found;
        last = found.back().id;
    }
}

Result<std::vector<RemoteBackend::Named>> RemoteBackend::left_out(
    const RemoteCollection& collection, const std::string& namespace_,
    const std::vector<Chunk>& batch, const Principal& principal, const CallLimits& limits) const {
    std::set<std::string> documents;
    std::unordered_set<std::string_view> kept;
    for (const Chunk& chunk : batch) {
        documents.insert(chunk.document_id);
        kept.insert(chunk.chunk_id);
    }
    BRAID_CHECK(core_->refresh_written(collection, limits));
    ReadScope scope{
        .collection = collection.meta.collection, .namespace_ = namespace_, .principal = principal};
    Array names;
    for (const std::string& document : documents) names.emplace_back(document);
    BRAID_TRY(auto found,
              select(collection, scope, {terms_clause("doc", std::move(names))}, limits));
    std::erase_if(found, [&](const Named& one) { return kept.contains(one.id); });
    return found;
}

Result<WriteReport> RemoteBackend::upsert(const std::string& collection,
                                          const std::string& namespace_, std::vector<Chunk> chunks,
                                          const WriteOptions& options) {
    BRAID_CHECK(index::check_id(namespace_, "namespace"));
    BRAID_CHECK(index::check_characters(namespace_, "namespace"));
    BRAID_TRY(RemoteCollectionPtr into, core_->find_now(collection, options.limits));
    if (chunks.empty()) return WriteReport{};
    BRAID_CHECK(check_batch(chunks, *into, options));
    const Schema& schema = into->meta.schema;
    const bool depends =
        options.if_version || options.replace_documents || !options.principal.sees_everything();
    const Version version = new_version();
    std::vector<BulkOperation> operations;
    std::vector<BulkOutcome> outcomes;
    std::vector<std::size_t> open(chunks.size());
    std::unordered_set<std::string> documents;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        open[i] = i;
        chunks[i].version = version;
        documents.insert(chunks[i].document_id);
    }
    for (int round = 1; !open.empty(); ++round) {
        std::vector<std::string> ids;
        for (const std::size_t i : open) ids.push_back(chunks[i].chunk_id);
        Stored stored(ids.size());
        if (depends) {
            BRAID_TRY(stored, core_->read(*into, namespace_, ids, false, options.limits));
        }
        for (std::size_t n = 0; depends && n < open.size(); ++n) {
            if (!stored[n]) continue;
            BRAID_TRY(const bool visible, is_visible(stored[n]->chunk, options.principal, schema));
            if (visible) continue;
            return fail(ErrorCode::Conflict, "the chunk id \"" + ids[n] + "\" is taken");
        }
        for (std::size_t n = 0; n < open.size(); ++n) {
            const Version there = stored[n] ? stored[n]->chunk.version : 0;
            if (options.if_version && there != *options.if_version) {
                return wrong_version(ids[n], there, *options.if_version);
            }
            if (!options.replace_documents || !stored[n] ||
                documents.contains(stored[n]->chunk.document_id)) {
                continue;
            }
            return fail(ErrorCode::Conflict,
                        "the chunk id \"" + ids[n] + "\" belongs to document \"" +
                            stored[n]->chunk.document_id + "\"; replacing \"" +
                            chunks[open[n]].document_id + "\" would take it away");
        }
        std::vector<Named> outdated;
        if (options.replace_documents && round == 1) {
            BRAID_TRY(outdated,
                      left_out(*into, namespace_, chunks, options.principal, options.limits));
        }
        if (schema.vectors.has_vectors()) {
            BRAID_TRY(into, with_dimension(into, chunks.front().vector.size(), options.limits));
        }
        std::vector<BulkOperation> batch;
        for (std::size_t n = 0; n < open.size(); ++n) {
            const auto on = depends ? std::optional(Dependency::on(stored[n])) : std::nullopt;
            batch.push_back(index_operation(namespace_, chunks[open[n]], into->form(), on));
        }
        for (const Named& one : outdated) {
            batch.push_back(remove_operation(namespace_, one.id, one.dependency));
        }
        // The write itself is not interrupted.
        auto done = run_bulk(*core_, *into, namespace_, batch, {});
        std::vector<std::size_t> again;
        for (std::size_t n = 0; n < batch.size(); ++n) {
            const bool raced = done[n].kind == BulkOutcome::Kind::Conflict && n < open.size();
            if (raced && !options.if_version && round < kRounds) {
                again.push_back(open[n]);
                continue;
            }
            operations.push_back(std::move(batch[n]));
            outcomes.push_back(std::move(done[n]));
        }
        open = std::move(again);
    }
    return sum_up(operations, outcomes, version);
}

Result<WriteReport> RemoteBackend::update(const std::string& collection,
                                          const std::string& namespace_,
                                          std::vector<MetadataUpdate> updates,
                                          const WriteOptions& options) {
    BRAID_CHECK(index::check_id(namespace_, "namespace"));
    BRAID_TRY(const RemoteCollectionPtr in, core_->find_now(collection, options.limits));
    if (updates.empty()) return WriteReport{};
    const Schema& schema = in->meta.schema;
    std::unordered_set<std::string_view> seen;
    for (const MetadataUpdate& update : updates) {
        BRAID_CHECK(index::check_update(update, schema));
        if (!seen.insert(update.chunk_id).second) {
            return invalid_argument("a chunk stands twice in one batch of updates");
        }
    }
    const Version version = new_version();
    std::vector<BulkOperation> operations;
    std::vector<BulkOutcome> outcomes;
    std::vector<std::size_t> open(updates.size());
    for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
    for (int round = 1; !open.empty(); ++round) {
        std::vector<std::string> ids;
        for (const std::size_t i : open) ids.push_back(updates[i].chunk_id);
        BRAID_TRY(Stored stored, core_->read(*in, namespace_, ids, true, options.limits));
        for (std::size_t n = 0; n < open.size(); ++n) {
            bool visible = false;
            if (stored[n]) {
                BRAID_TRY(visible, is_visible(stored[n]->chunk, options.principal, schema));
            }
            if (!visible) {
                return fail(ErrorCode::NotFound, "there is no chunk \"" + ids[n] +
                                                     "\" in namespace \"" + namespace_ + "\"");
            }
            Object merged = stored[n]->chunk.metadata;
            docs::merge_patch(merged, updates[open[n]].metadata);
            BRAID_CHECK(docs::check_metadata(merged, schema));
        }
        std::vector<BulkOperation> batch;
        for (std::size_t n = 0; n < open.size(); ++n) {
            Chunk& chunk = stored[n]->chunk;
            if (options.if_version && chunk.version != *options.if_version) {
                return wrong_version(ids[n], chunk.version, *options.if_version);
            }
            index::apply_update(updates[open[n]], chunk);
            chunk.version = version;
            batch.push_back(
                index_operation(namespace_, chunk, in->form(), Dependency::on(stored[n])));
        }
        auto done = run_bulk(*core_, *in, namespace_, batch, {});
        std::vector<std::size_t> again;
        for (std::size_t n = 0; n < batch.size(); ++n) {
            if (done[n].kind == BulkOutcome::Kind::Conflict && !options.if_version &&
                round < kRounds) {
                again.push_back(open[n]);
                continue;
            }
            operations.push_back(std::move(batch[n]));
            outcomes.push_back(std::move(done[n]));
        }
        open = std::move(again);
    }
    return sum_up(operations, outcomes, version);
}

Result<WriteReport> RemoteBackend::remove_ids(const RemoteCollection& collection,
                                              const ReadScope& scope,
                                              const std::vector<std::string>& ids,
                                              const WriteOptions& options) {
    const Version version = new_version();
    const std::set<std::string> distinct(ids.begin(), ids.end());
    const std::vector<std::string> each(distinct.begin(), distinct.end());
    BRAID_TRY(Stored stored,
              core_->read(collection, scope.namespace_, each, false, options.limits));
    for (auto& one : stored) {
        if (!one) continue;
        BRAID_TRY(const bool visible,
                  is_visible(one->chunk, scope.principal, collection.meta.schema));
        if (!visible) one.reset();
    }
    std::vector<BulkOperation> operations;
    for (std::size_t i = 0; i < each.size(); ++i) {
        const Version there = stored[i] ? stored[i]->chunk.version : 0;
        if (options.if_version && there != *options.if_version) {
            return wrong_version(each[i], there, *options.if_version);
        }
        if (!stored[i]) continue;
        operations.push_back(
            remove_operation(scope.namespace_, each[i], Dependency::on(stored[i])));
    }
    if (operations.empty()) return WriteReport{};
    const auto outcomes = run_bulk(*core_, collection, scope.namespace_, operations, {});
    BRAID_TRY(WriteReport report, sum_up(operations, outcomes, version));
    report.written = std::exchange(report.removed, 0);
    return report;
}

Result<WriteReport> RemoteBackend::remove(const ReadScope& scope, const DeleteSelector& selector,
                                          const WriteOptions& options) {
    BRAID_TRY(const RemoteCollectionPtr from, core_->find_now(scope.collection, options.limits));
    const int given = static_cast<int>(!selector.chunk_ids.empty()) +
                      static_cast<int>(!selector.document_ids.empty()) +
                      static_cast<int>(selector.filter.has_value());
    if (given != 1) {
        return invalid_argument(
            "delete needs chunk ids, document ids or a filter, and only one of them");
    }
    BRAID_CHECK(principal_clauses(scope.principal, from->meta.schema));
    if (!selector.chunk_ids.empty()) return remove_ids(*from, scope, selector.chunk_ids, options);
    ReadScope within = scope;
    within.filter = selector.filter;
    Array clauses;
    if (!selector.document_ids.empty()) {
        Array names;
        for (const std::string& id : selector.document_ids) names.emplace_back(id);
        clauses.push_back(terms_clause("doc", std::move(names)));
    }
    WriteReport report;
    for (int round = 1;; ++round) {
        BRAID_CHECK(core_->refresh_written(*from, options.limits));
        BRAID_TRY(const auto chosen, select(*from, within, clauses, options.limits));
        std::vector<BulkOperation> operations;
        for (const Named& one : chosen) {
            if (options.if_version && one.version != *options.if_version) {
                return wrong_version(one.id, one.version, *options.if_version);
            }
            operations.push_back(remove_operation(scope.namespace_, one.id, one.dependency));
        }
        if (operations.empty()) return report;
        if (report.version == 0) report.version = new_version();
        const auto outcomes = run_bulk(*core_, *from, scope.namespace_, operations, {});
        const bool raced = std::ranges::any_of(outcomes, [](const BulkOutcome& outcome) {
            return outcome.kind == BulkOutcome::Kind::Conflict;
        });
        if (raced && !options.if_version && round < kRounds) {
            // What was changed meanwhile is looked at again: it may not match any more.
            report.written += static_cast<std::uint64_t>(
                std::ranges::count(outcomes, BulkOutcome::Kind::Removed, &BulkOutcome::kind));
            continue;
        }
        BRAID_TRY(const WriteReport last, sum_up(operations, outcomes, report.version));
        report.written += last.removed;
        return report;
    }
}

}  // namespace braid::remote
