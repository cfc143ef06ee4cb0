#include <algorithm>
#include <exception>
#include <unordered_set>

#include "braid/core/parallel.hpp"
#include "braid/dense/precision.hpp"
#include "braid/docs/chunk_codec.hpp"
#include "braid/index/ids.hpp"
#include "braid/index/write_rules.hpp"
#include "braid/local/collection.hpp"
#include "braid/local/records.hpp"

namespace braid::local {
namespace {

constexpr std::size_t kCountedTogether = 16;  // chunks

/// How a log is told that a record could not be applied; it then accepts no more.
class NotApplied final : public std::exception {
public:
    explicit NotApplied(std::string message) : message_(std::move(message)) {}
    const char* what() const noexcept override { return message_.c_str(); }

private:
    std::string message_;
};

}  // namespace

Result<> Collection::accept_vector(Chunk& chunk, std::size_t dimension,
                                   const Principal& principal) const {
    const VectorSpec& spec = manifest_.schema.vectors;
    if (!spec.has_vectors()) return {};
    std::size_t shown = dimension;
    if (chunk.vector.size() != dimension && this->dimension() != 0) {
        BRAID_TRY(shown, visible_dimension(principal));
    }
    BRAID_CHECK(index::check_vector(chunk.vector, dimension, shown, spec.metric));
    if (spec.precision == Precision::F32) return {};
    dense::round_to(spec.precision, chunk.vector);
    auto rounded = index::check_vector(chunk.vector, dimension, shown, spec.metric);
    if (!rounded) return fail(dense::rounded_as(spec.precision), std::move(rounded).error());
    return {};
}

std::vector<index::PreparedText> Collection::count_words(const std::vector<Chunk>& chunks) const {
    std::vector<index::PreparedText> texts(chunks.size());
    const std::size_t parts = (chunks.size() + kCountedTogether - 1) / kCountedTogether;
    std::vector<std::exception_ptr> thrown(parts);  // out of memory
    core::run_computing(parts, [&](std::size_t part) {
        const std::size_t begin = part * kCountedTogether;
        const std::size_t end = std::min(begin + kCountedTogether, chunks.size());
        try {
            for (std::size_t i = begin; i < end; ++i) {
                texts[i] = index::count_terms(chunks[i], manifest_.schema, analyzer_);
            }
        } catch (...) {
            thrown[part] = std::current_exception();
        }
    });
    for (const std::exception_ptr& one : thrown) {
        if (one) std::rethrow_exception(one);
    }
    return texts;
}

index::PreparedChunk Collection::prepare(Chunk chunk) const {
    return index::prepare(std::move(chunk), manifest_.schema, analyzer_);
}

Result<> Collection::check_versions(const ReadScope& scope, std::span<const std::string> ids,
                                    const WriteOptions& options) const {
    if (!options.if_version) return {};
    BRAID_TRY(const ViewPtr view, present(scope.namespace_, scope.principal));
    for (const std::string& id : ids) {
        BRAID_TRY(const index::Found found, view->find(id));
        const Version version = found ? found.chunk->version : 0;
        if (version != *options.if_version) {
            return index::wrong_version(id, version, *options.if_version);
        }
    }
    return {};
}

Result<> Collection::check_taken(const std::string& namespace_, std::span<const std::string> ids,
                                 const Principal& principal) const {
    if (principal.sees_everything()) return {};
    BRAID_TRY(const ViewPtr visible, present(namespace_, principal));
    BRAID_TRY(const ViewPtr all, present(namespace_, {}));
    for (const std::string& id : ids) {
        BRAID_TRY(const index::Found there, all->find(id));
        BRAID_TRY(const index::Found seen, visible->find(id));
        if (!there || seen) continue;
        return index::id_taken(id);
    }
    return {};
}

Result<WriteReport> Collection::commit(std::span<const std::byte> payload,
                                       const std::function<Result<WriteReport>(Stamp)>& apply) {
    Result<WriteReport> report;
    const auto appended = log()->append(payload, [&](std::uint64_t sequence) {
        const std::unique_lock lock(state_mutex_);
        report = apply({sequence, versions_.of(sequence, payload)});
        // The record is in the log but memory does not match it: nothing may follow.
        if (!report) throw NotApplied(report.error().message);
        settle(sequence);
    });
    if (!appended) return fail("collection \"" + name_ + "\"", appended.error());
    return report;
}

Result<WriteReport> Collection::upsert(const std::string& namespace_, std::vector<Chunk> chunks,
                                       const WriteOptions& options) {
    BRAID_CHECK(index::check_id(namespace_, "namespace"));
    BRAID_CHECK(index::check_characters(namespace_, "namespace"));
    if (chunks.empty()) return WriteReport{};
    wait_for_room();
    BRAID_CHECK(index::check_embedder(options, manifest_.schema, name_));
    for (Chunk& chunk : chunks) {
        auto valid = index::check_chunk(chunk, manifest_.schema);
        if (valid) valid = index::check_characters(chunk);
        if (!valid) return fail("chunk \"" + index::shown(chunk.chunk_id) + "\"", valid.error());
    }
    // Counting words is most of the work of a write, and need not keep other writes waiting.
    std::vector<index::PreparedText> texts;
    if (!options.skip_unchanged) texts = count_words(chunks);
    std::shared_lock shared(write_gate_, std::defer_lock);
    std::unique_lock alone(write_gate_, std::defer_lock);
    const bool first_vectors = manifest_.schema.vectors.has_vectors() && dimension() == 0;
    const bool depends = options.if_version || options.replace_documents ||
                         options.skip_unchanged || !options.principal.sees_everything();
    if (depends || first_vectors) {
        alone.lock();
    } else {
        shared.lock();
    }

    std::size_t expected = dimension();
    if (expected == 0 && first_vectors) expected = chunks.front().vector.size();
    std::unordered_set<std::string_view> seen;
    std::vector<std::string> ids;
    for (Chunk& chunk : chunks) {
        if (auto valid = accept_vector(chunk, expected, options.principal); !valid) {
            return fail("chunk \"" + index::shown(chunk.chunk_id) + "\"", valid.error());
        }
        if (!seen.insert(chunk.chunk_id).second) return index::named_twice(chunk.chunk_id);
        chunk.version = 0;
        if (depends) ids.push_back(chunk.chunk_id);
    }
    BRAID_CHECK(check_taken(namespace_, ids, options.principal));
    BRAID_CHECK(check_versions({.namespace_ = namespace_}, ids, options));
    std::vector<std::string> outdated;
    if (options.replace_documents) {
        BRAID_CHECK(check_owners(namespace_, chunks));  // hidden ones were refused before
        BRAID_TRY(outdated, left_out(namespace_, chunks, options.principal));
        if (!outdated.empty()) BRAID_CHECK(raise_format(kReplacingFormat));
    }
    BRAID_CHECK(raise_format_for(chunks));
    std::uint64_t unchanged = 0;
    if (options.skip_unchanged) {
        BRAID_TRY(unchanged, drop_unchanged(namespace_, chunks));
        if (chunks.empty() && outdated.empty()) return WriteReport{.unchanged = unchanged};
        texts = count_words(chunks);
    }
    auto out = start_record(outdated.empty() ? kUpsert : kReplace, namespace_, chunks.size());
    std::vector<index::PreparedChunk> prepared;
    prepared.reserve(chunks.size());
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        docs::write_chunk(out, chunks[i]);
        prepared.push_back({std::move(chunks[i]), std::move(texts[i])});
    }
    if (!outdated.empty()) write_removals(out, outdated);
    return commit(out.view(), [&](Stamp stamp) -> Result<WriteReport> {
        BRAID_TRY(WriteReport report, apply_upsert(namespace_, std::move(prepared), stamp, now()));
        report.unchanged = unchanged;
        if (outdated.empty()) return report;
        BRAID_TRY(const WriteReport removed, apply_remove(namespace_, outdated, stamp));
        report.removed = removed.written;
        return report;
    });
}

Result<WriteReport> Collection::update(const std::string& namespace_,
                                       std::vector<MetadataUpdate> updates,
                                       const WriteOptions& options) {
    BRAID_CHECK(index::check_id(namespace_, "namespace"));
    if (updates.empty()) return WriteReport{};
    const std::unique_lock alone(write_gate_);
    std::vector<std::string> ids;
    auto out = start_record(kUpdate, namespace_, updates.size());
    for (const MetadataUpdate& update : updates) {
        ids.push_back(update.chunk_id);
        BRAID_CHECK(index::check_update(update, manifest_.schema));
        docs::write_update(out, update);
    }
    if (std::unordered_set<std::string_view>(ids.begin(), ids.end()).size() != ids.size()) {
        return index::updated_twice();
    }
    BRAID_TRY(const ViewPtr view, present(namespace_, options.principal));
    for (const MetadataUpdate& update : updates) {
        BRAID_TRY(const index::Found found, view->find(update.chunk_id));
        if (!found) return index::nothing_to_update(update.chunk_id, namespace_);
        Object merged = found.chunk->metadata;
        docs::merge_patch(merged, update.metadata);
        BRAID_CHECK(docs::check_metadata(merged, manifest_.schema));
    }
    BRAID_CHECK(check_versions({.namespace_ = namespace_}, ids, options));
    BRAID_CHECK(raise_format_for(updates));
    return commit(out.view(),
                  [&](Stamp stamp) { return apply_updates(namespace_, updates, stamp); });
}

Result<WriteReport> Collection::apply_upsert(const std::string& namespace_,
                                             std::vector<index::PreparedChunk> chunks, Stamp stamp,
                                             Timestamp now) {
    WriteReport report{.written = chunks.size(), .version = stamp.version};
    for (index::PreparedChunk& prepared : chunks) {
        if (dimension_ == 0) dimension_ = prepared.chunk.vector.size();
        if (prepared.chunk.version == 0) prepared.chunk.version = report.version;
    }
    BRAID_TRY(report.replaced, index_->upsert(namespace_, std::move(chunks), stamp.sequence, now));
    return report;
}

Result<WriteReport> Collection::apply_updates(const std::string& namespace_,
                                              const std::vector<MetadataUpdate>& updates,
                                              Stamp stamp) {
    WriteReport report{.version = stamp.version};
    BRAID_TRY(report.written, index_->update(namespace_, updates, stamp.version, stamp.sequence));
    report.replaced = report.written;
    return report;
}

Result<WriteReport> Collection::apply_remove(const std::string& namespace_,
                                             const std::vector<std::string>& ids, Stamp stamp) {
    WriteReport report{.version = stamp.version};
    BRAID_TRY(report.written, index_->remove(namespace_, ids, stamp.sequence));
    return report;
}

Result<> Collection::replay(Sequence sequence, std::span<const std::byte> payload) {
    if (sequence <= index_->persisted()) {
        applied_ = sequence;
        return {};
    }
    BRAID_TRY(LogRecord record, decode_record(payload));
    const Stamp stamp{sequence, versions_.of(sequence, payload)};
    if (record.drops_namespace) BRAID_CHECK(index_->drop(record.namespace_, sequence));
    if (!record.upserts.empty()) {
        std::vector<index::PreparedChunk> chunks;
        chunks.reserve(record.upserts.size());
        std::size_t dimension = dimension_;
        for (Chunk& chunk : record.upserts) {
            if (dimension == 0) dimension = chunk.vector.size();
            if (!chunk.vector.empty() && chunk.vector.size() != dimension) {
                return fail(ErrorCode::Corruption,
                            "chunk \"" + chunk.chunk_id + "\" has a vector of the wrong dimension");
            }
            chunks.push_back(prepare(std::move(chunk)));
        }
        BRAID_CHECK(
            apply_upsert(record.namespace_, std::move(chunks), stamp, index::kNothingExpired));
    }
    if (!record.updates.empty()) {
        BRAID_CHECK(apply_updates(record.namespace_, record.updates, stamp));
    }
    if (!record.removals.empty()) {
        BRAID_CHECK(apply_remove(record.namespace_, record.removals, stamp));
    }
    settle(sequence);
    return {};
}

}  // namespace braid::local
