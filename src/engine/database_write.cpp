#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "braid/backend.hpp"
#include "braid/database.hpp"
#include "braid/engine/database_impl.hpp"
#include "braid/rank/model_json.hpp"

namespace braid {
namespace {

/// Copies a collection batch by batch, each modified by `change`, and replaces it by the copy.
template <class Change>
Result<> carry_out(Rewrite& rewrite, const Change& change,
                   const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    constexpr std::size_t batch_size = 64;
    while (true) {
        BRAID_TRY(Rewrite::Batch batch, rewrite.pending(batch_size));
        if (batch.chunks.empty()) {
            BRAID_TRY(const bool finished, rewrite.finish());
            if (finished) return {};
            continue;
        }
        BRAID_CHECK(change(batch.chunks));
        BRAID_CHECK(rewrite.put(std::move(batch)));
        if (progress) progress(rewrite.done(), rewrite.total());
    }
}

/// For a backend that would keep forever what should expire.
template <class Items>
Result<> refuse_expiry(const Items& items) {
    for (const auto& item : items) {
        if (!item.expires_at) continue;
        return fail(ErrorCode::Unsupported,
                    "chunk \"" + item.chunk_id +
                        "\" has expires_at, but chunks do not expire in this database");
    }
    return {};
}

}  // namespace

Result<> Database::Impl::keep_vectors(const std::string& collection, const std::string& namespace_,
                                      std::span<Chunk* const> chunks,
                                      const WriteOptions& options) const {
    std::vector<std::string> ids;
    for (const Chunk* const chunk : chunks) ids.push_back(chunk->chunk_id);
    BRAID_TRY(const auto now, snapshot(collection, options.limits));
    BRAID_TRY(auto stored, now->fetch({.collection = collection,
                                       .namespace_ = namespace_,
                                       .principal = options.principal},
                                      ids, true));
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        if (!stored[i]) continue;
        if (engine::passage_text(*stored[i]) != engine::passage_text(*chunks[i])) continue;
        chunks[i]->vector = std::move(stored[i]->vector);
    }
    return {};
}

Result<WriteReport> Database::add(const std::string& collection, std::vector<Chunk> chunks,
                                  const std::string& namespace_, const WriteOptions& options) {
    if (!impl_->backend->capabilities().expiry) BRAID_CHECK(refuse_expiry(chunks));
    BRAID_TRY(Schema schema, impl_->schema(collection, options.limits));
    std::vector<Chunk*> embedded_here;
    for (Chunk& chunk : chunks) {
        if (chunk.vector.empty()) embedded_here.push_back(&chunk);
    }
    if (options.skip_unchanged && schema.vectors.fingerprint) {
        BRAID_CHECK(impl_->keep_vectors(collection, namespace_, embedded_here, options));
    }
    while (true) {
        BRAID_TRY(auto warnings, impl_->registry->embed_chunks(schema, chunks, options.limits));
        WriteOptions checked = options;
        if (!checked.vectors_by) checked.vectors_by = schema.vectors.fingerprint;
        const bool brought = schema.vectors.has_vectors() && !schema.vectors.fingerprint;
        if (brought)
            return impl_->backend->upsert(collection, namespace_, std::move(chunks), checked);
        auto report = impl_->backend->upsert(collection, namespace_, chunks, checked);
        if (report) {
            report->warnings = std::move(warnings);
            if (schema.vectors.fingerprint) impl_->written(collection, namespace_);
            return report;
        }
        // The collection may have got another embedder while this one was at work.
        BRAID_TRY(Schema present, impl_->schema(collection, options.limits));
        if (present.vectors.fingerprint == schema.vectors.fingerprint) return report;
        schema = std::move(present);
        for (Chunk* const chunk : embedded_here) chunk->vector.clear();
    }
}

Result<WriteReport> Database::update(const std::string& collection,
                                     std::vector<MetadataUpdate> updates,
                                     const std::string& namespace_, const WriteOptions& options) {
    if (!impl_->backend->capabilities().expiry) BRAID_CHECK(refuse_expiry(updates));
    return impl_->backend->update(collection, namespace_, std::move(updates), options);
}

Result<WriteReport> Database::remove(const ReadScope& scope, const DeleteSelector& selector,
                                     const WriteOptions& options) {
    impl_->written(scope.collection, scope.namespace_);
    return impl_->backend->remove(scope, selector, options);
}

Result<ReembedReport> Database::reembed(
    const std::string& collection, const std::string& embedder,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress, const CallLimits& limits) {
    if (embedder == "none" || embedder == "external") {
        return invalid_argument("the embedder \"" + embedder +
                                "\" makes no vectors; name one that does");
    }
    BRAID_TRY(Schema schema, impl_->schema(collection, limits));
    schema.vectors = {.embedder = embedder,
                      .metric = schema.vectors.metric,
                      .precision = schema.vectors.precision};
    BRAID_CHECK(impl_->registry->complete(schema));
    BRAID_TRY(const auto rewrite, impl_->backend->rewrite(collection, schema));
    ReembedReport report;
    const auto embed = [&](std::vector<Chunk>& chunks) -> Result<> {
        if (limits.stopped()) return fail(ErrorCode::Cancelled, "re-embedding was interrupted");
        for (Chunk& chunk : chunks) chunk.vector.clear();
        BRAID_TRY(auto warnings, impl_->registry->embed_chunks(schema, chunks, limits));
        report.embedded += chunks.size();
        if (report.warnings.empty()) report.warnings = std::move(warnings);
        return {};
    };
    BRAID_CHECK(carry_out(*rewrite, embed, progress));
    report.chunks = rewrite->total();
    return report;
}

Result<CompactReport> Database::compact(
    const std::string& collection,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress, const CallLimits& limits) {
    const auto bytes = [&]() -> Result<std::uint64_t> {
        BRAID_TRY(const CollectionStats found, stats({.collection = collection}, limits));
        return found.bytes_on_disk;
    };
    CompactReport report;
    BRAID_TRY(report.bytes_before, bytes());
    BRAID_TRY(const auto rewrite, impl_->backend->compaction(collection));
    const auto unchanged = [&](const std::vector<Chunk>&) -> Result<> {
        if (!limits.stopped()) return {};
        return fail(ErrorCode::Cancelled,
                    "compacting was interrupted; the collection is unchanged");
    };
    BRAID_CHECK(carry_out(*rewrite, unchanged, progress));
    report.chunks = rewrite->total();
    BRAID_TRY(report.bytes_after, bytes());
    return report;
}

Result<std::string> Database::ranker(const std::string& collection) const {
    BRAID_TRY(const ReaderPtr snapshot, impl_->backend->snapshot(std::span(&collection, 1), {}));
    BRAID_TRY(const auto model, snapshot->ranker(collection));
    return model ? rank::write_model(*model) : std::string();
}

Result<> Database::set_ranker(const std::string& collection, const std::string& model) {
    return impl_->backend->set_ranker(collection, model);
}

}  // namespace braid
