#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "braid/dense/precision.hpp"
#include "braid/docs/chunk_codec.hpp"
#include "braid/docs/filter_matcher.hpp"
#include "braid/index/ids.hpp"
#include "braid/index/prepared.hpp"
#include "braid/index/write_rules.hpp"
#include "braid/json/json.hpp"
#include "braid/net/client/retry.hpp"
#include "braid/remote/bulk.hpp"
#include "braid/remote/remote_backend.hpp"
#include "braid/remote/remote_reader.hpp"
#include "braid/remote/write_summary.hpp"

// Writing chunks. Every write names what it found, even if the caller does not care: a request that
// a node held back, and that was sent again through another, must not arrive late and undo what was
// written since.
namespace braid::remote {
namespace {

constexpr std::size_t kRounds = 20;  // of reading and writing again after somebody else's changes

}  // namespace

Result<> RemoteBackend::check_batch(std::vector<Chunk>& chunks, const RemoteCollection& collection,
                                    const WriteOptions& options) const {
    const Schema& schema = collection.meta.schema;
    BRAID_CHECK(index::check_embedder(options, schema, collection.meta.collection));
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
            if (valid && schema.vectors.precision != Precision::F32) {
                dense::round_to(schema.vectors.precision, chunk.vector);
                valid = index::check_vector(chunk.vector, expected, shown, schema.vectors.metric);
                if (!valid) {
                    valid =
                        fail(dense::rounded_as(schema.vectors.precision), std::move(valid).error());
                }
            }
        }
        if (valid) valid = index::check_characters(chunk);
        if (!valid) return fail("chunk \"" + index::shown(chunk.chunk_id) + "\"", valid.error());
        if (!seen.insert(chunk.chunk_id).second) {
            return index::named_twice(chunk.chunk_id);
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
    // The node asked now may not know yet what was agreed on.
    if (changed) {
        BRAID_TRY(RemoteCollectionPtr agreed, core_->make(std::move(meta)));
        return core_->remember(std::move(agreed));
    }
    BRAID_TRY(RemoteCollectionPtr now, core_->find_now(meta.collection, limits));
    if (now->meta.dimension == dimension) return now;
    if (now->meta.dimension == 0 && changed.error().code != ErrorCode::InvalidArgument) {
        return tl::unexpected<Error>(changed.error());
    }
    return invalid_argument("a vector of " + std::to_string(dimension) +
                            " dimensions cannot be stored here");  // somebody was quicker
}

Result<RemoteCollectionPtr> RemoteBackend::with_expiry(RemoteCollectionPtr collection,
                                                       const CallLimits& limits) {
    if (collection->meta.expires) return collection;
    IndexMeta meta = collection->meta;
    meta.expires = true;
    BRAID_CHECK(core_->client().ask("PUT", collection->path + "/_mapping",
                                    json::print(mapping_body(meta)), limits));
    BRAID_TRY(RemoteCollectionPtr agreed, core_->make(std::move(meta)));
    return core_->remember(std::move(agreed));
}

Result<std::vector<std::size_t>> RemoteBackend::changed(const RemoteCollection& collection,
                                                        const std::string& namespace_,
                                                        const std::vector<Chunk>& chunks,
                                                        const WriteOptions& options,
                                                        std::uint64_t& unchanged) const {
    std::vector<std::size_t> places;
    Stored stored(chunks.size());
    if (options.skip_unchanged) {
        std::vector<std::string> ids;
        for (const Chunk& chunk : chunks) ids.push_back(chunk.chunk_id);
        BRAID_TRY(stored,
                  core_->read(collection, namespace_, ids, true, core_->now(), options.limits));
    }
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        std::optional<Chunk>& there = stored[i].chunk;
        bool same = false;
        // A chunk that is hidden, or has another version than was asked for, is refused along with
        // the others.
        if (there && (!options.if_version || stored[i].version == *options.if_version)) {
            there->version = chunks[i].version;
            BRAID_TRY(const bool visible,
                      is_visible(*there, options.principal, collection.meta.schema));
            same = visible && *there == chunks[i];
        }
        if (!same) places.push_back(i);
    }
    unchanged = chunks.size() - places.size();
    return places;
}

Result<WriteReport> RemoteBackend::write_in_rounds(const RemoteCollectionPtr& collection,
                                                   const std::string& namespace_,
                                                   std::vector<std::size_t> open, Version version,
                                                   bool only_once, const Prepare& prepare) {
    std::vector<BulkOperation> operations;
    std::vector<BulkOutcome> outcomes;
    std::vector<BulkOperation> raced;  // one per open place, from the second round on
    for (std::size_t round = 1; round == 1 || !open.empty(); ++round) {
        auto prepared = prepare(open, round == 1);
        if (!prepared && round == 1) return tl::unexpected<Error>(std::move(prepared).error());
        if (!prepared) {  // what earlier rounds wrote is kept and reported
            for (BulkOperation& operation : raced) {
                operations.push_back(std::move(operation));
                outcomes.push_back({BulkOutcome::Kind::Failed, prepared.error()});
            }
            break;
        }
        std::vector<BulkOperation>& batch = *prepared;
        // The write itself is not interrupted.
        auto done = run_bulk(*core_, *collection, namespace_, batch, {});
        std::vector<std::size_t> again;
        raced.clear();
        for (std::size_t n = 0; n < batch.size(); ++n) {
            const bool came_between =
                done[n].kind == BulkOutcome::Kind::Conflict && n < open.size();
            if (came_between && !only_once && round < kRounds) {
                again.push_back(open[n]);
                raced.push_back(std::move(batch[n]));
                continue;
            }
            operations.push_back(std::move(batch[n]));
            outcomes.push_back(std::move(done[n]));
        }
        open = std::move(again);
        // After losing repeatedly, let the others finish first.
        if (!open.empty() && round > 2) (void)net::pause(core_->client().retries(), round - 2, {});
    }
    return sum_up(operations, outcomes, version);
}

Result<WriteReport> RemoteBackend::upsert(const std::string& collection,
                                          const std::string& namespace_, std::vector<Chunk> chunks,
                                          const WriteOptions& options) {
    BRAID_CHECK(index::check_id(namespace_, "namespace"));
    BRAID_CHECK(index::check_characters(namespace_, "namespace"));
    BRAID_TRY(RemoteCollectionPtr into, core_->find_now(collection, options.limits));
    if (chunks.empty()) return WriteReport{};
    BRAID_CHECK(check_batch(chunks, *into, options));
    const Version version = new_version();
    std::unordered_set<std::string> documents;
    for (Chunk& chunk : chunks) {
        chunk.version = version;
        documents.insert(chunk.document_id);
    }
    std::uint64_t unchanged = 0;
    BRAID_TRY(std::vector<std::size_t> places,
              changed(*into, namespace_, chunks, options, unchanged));
    if (std::ranges::any_of(chunks, [](const Chunk& chunk) { return !!chunk.expires_at; })) {
        BRAID_TRY(into, with_expiry(into, options.limits));
    }
    const Prepare prepare = [&](std::span<const std::size_t> open,
                                bool first) -> Result<std::vector<BulkOperation>> {
        std::vector<std::string> ids;
        for (const std::size_t i : open) ids.push_back(chunks[i].chunk_id);
        BRAID_TRY(const Stored stored,
                  core_->read(*into, namespace_, ids, false, core_->now(), options.limits));
        for (std::size_t n = 0; n < open.size(); ++n) {
            if (!stored[n].chunk) continue;
            BRAID_TRY(const bool visible,
                      is_visible(*stored[n].chunk, options.principal, into->meta.schema));
            if (visible) continue;
            return index::id_taken(ids[n]);
        }
        for (std::size_t n = 0; n < open.size(); ++n) {
            const std::optional<Chunk>& chunk = stored[n].chunk;
            const Version there = stored[n].chunk_version();
            if (options.if_version && there != *options.if_version) {
                return index::wrong_version(ids[n], there, *options.if_version);
            }
            if (!options.replace_documents || !chunk || documents.contains(chunk->document_id)) {
                continue;
            }
            return index::owned_elsewhere(ids[n], chunk->document_id, chunks[open[n]].document_id);
        }
        std::vector<Named> outdated;
        if (options.replace_documents && first) {
            BRAID_TRY(outdated,
                      left_out(*into, namespace_, chunks, options.principal, options.limits));
        }
        if (into->meta.schema.vectors.has_vectors()) {
            BRAID_TRY(into, with_dimension(into, chunks.front().vector.size(), options.limits));
        }
        std::vector<BulkOperation> batch;
        for (std::size_t n = 0; n < open.size(); ++n) {
            batch.push_back(index_operation(namespace_, chunks[open[n]], into->form(), stored[n]));
        }
        for (const Named& one : outdated) {
            batch.push_back(remove_operation(namespace_, one.id, version, one.dependency));
        }
        return batch;
    };
    BRAID_TRY(WriteReport report, write_in_rounds(into, namespace_, std::move(places), version,
                                                  options.if_version.has_value(), prepare));
    report.unchanged = unchanged;
    if (report.written == 0 && report.removed == 0) report.version = 0;
    if (into->meta.expires) forget_past(*into);
    return report;
}

Result<WriteReport> RemoteBackend::update(const std::string& collection,
                                          const std::string& namespace_,
                                          std::vector<MetadataUpdate> updates,
                                          const WriteOptions& options) {
    BRAID_CHECK(index::check_id(namespace_, "namespace"));
    BRAID_TRY(RemoteCollectionPtr in, core_->find_now(collection, options.limits));
    if (updates.empty()) return WriteReport{};
    const Schema schema = in->meta.schema;
    std::unordered_set<std::string_view> seen;
    for (const MetadataUpdate& update : updates) {
        BRAID_CHECK(index::check_update(update, schema));
        if (!seen.insert(update.chunk_id).second) {
            return index::updated_twice();
        }
    }
    if (std::ranges::any_of(updates, [](const auto& update) { return !!update.expires_at; })) {
        BRAID_TRY(in, with_expiry(in, options.limits));
    }
    const Version version = new_version();
    const Prepare prepare = [&](std::span<const std::size_t> open,
                                bool /*first*/) -> Result<std::vector<BulkOperation>> {
        std::vector<std::string> ids;
        for (const std::size_t i : open) ids.push_back(updates[i].chunk_id);
        BRAID_TRY(Stored stored,
                  core_->read(*in, namespace_, ids, true, core_->now(), options.limits));
        for (std::size_t n = 0; n < open.size(); ++n) {
            bool visible = false;
            if (stored[n].chunk) {
                BRAID_TRY(visible, is_visible(*stored[n].chunk, options.principal, schema));
            }
            if (!visible) {
                return index::nothing_to_update(ids[n], namespace_);
            }
            Object merged = stored[n].chunk->metadata;
            docs::merge_patch(merged, updates[open[n]].metadata);
            BRAID_CHECK(docs::check_metadata(merged, schema));
        }
        std::vector<BulkOperation> batch;
        for (std::size_t n = 0; n < open.size(); ++n) {
            Chunk chunk = *stored[n].chunk;
            if (options.if_version && chunk.version != *options.if_version) {
                return index::wrong_version(ids[n], chunk.version, *options.if_version);
            }
            index::apply_update(updates[open[n]], chunk);
            chunk.version = version;
            batch.push_back(index_operation(namespace_, chunk, in->form(), stored[n]));
        }
        return batch;
    };
    std::vector<std::size_t> all(updates.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return write_in_rounds(in, namespace_, std::move(all), version, options.if_version.has_value(),
                           prepare);
}

}  // namespace braid::remote
