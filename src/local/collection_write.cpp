#include <algorithm>
#include <cmath>
#include <exception>
#include <unordered_set>

#include "braid/docs/chunk_codec.hpp"
#include "braid/local/collection.hpp"
#include "braid/local/ids.hpp"
#include "braid/local/records.hpp"
#include "braid/text/utf8.hpp"

namespace braid::local {
namespace {

Result<> check_object(const Object& object, std::size_t depth);

/// What JSON can say, and the log can give back.
Result<> check_value(const Value& value, std::size_t depth) {
    if (depth > docs::kMaxMetadataDepth) {
        return invalid_argument("metadata is nested deeper than " +
                                std::to_string(docs::kMaxMetadataDepth) + " levels");
    }
    if (value.is_string()) return text::require_utf8(value.as_string(), "metadata");
    if (value.is_double() && !std::isfinite(value.as_double())) {
        return invalid_argument("metadata holds a number that is not finite");
    }
    if (value.is_object()) return check_object(value.as_object(), depth + 1);
    if (value.is_array()) {
        for (const Value& element : value.as_array()) BRAID_CHECK(check_value(element, depth + 1));
    }
    return {};
}

Result<> check_object(const Object& object, std::size_t depth = 1) {
    for (const auto& [key, member] : object) {
        BRAID_CHECK(text::require_utf8(key, "metadata"));
        BRAID_CHECK(check_value(member, depth));
    }
    return {};
}

Result<> check_labels(const std::optional<std::string>& sensitivity,
                      const std::vector<std::string>& scopes, const Schema& schema) {
    const auto& names = schema.levels.names;
    if (sensitivity && std::ranges::find(names, *sensitivity) == names.end()) {
        std::string message = "sensitivity \"" + *sensitivity + "\" is not a level; the levels are";
        for (const std::string& name : names) message += " " + name;
        return invalid_argument(std::move(message));
    }
    for (const std::string& scope : scopes) BRAID_CHECK(check_id(scope, "visibility_scope"));
    return {};
}

/// `dimension` is what it must have, 0 if that is open; `shown` what an error may say of it.
Result<> check_vector(const std::vector<float>& vector, std::size_t dimension, std::size_t shown,
                      Metric metric) {
    if (vector.size() > kMaxDimension) {
        return invalid_argument("its vector has " + std::to_string(vector.size()) +
                                " dimensions, above the limit of " + std::to_string(kMaxDimension));
    }
    if (dimension != 0 && vector.size() != dimension) {
        const std::string size = std::to_string(vector.size());
        // What may not be seen decides: that it does is all that is said.
        if (shown == 0) {
            return invalid_argument("a vector of " + size + " dimensions cannot be stored here");
        }
        return invalid_argument("its vector has " + size + " dimensions, the collection " +
                                std::to_string(shown));
    }
    const auto odd = std::ranges::find_if(vector, [](float x) { return !std::isfinite(x); });
    if (odd != vector.end()) {
        return invalid_argument("element " + std::to_string(odd - vector.begin()) +
                                " of its vector is not a finite number");
    }
    if (metric == Metric::Cosine && std::ranges::all_of(vector, [](float x) { return x == 0; })) {
        return invalid_argument(
            "its vector is all zeros, which have no direction to compare by cosine");
    }
    return {};
}

/// How a log is told that a record could not be applied; it then takes no more of them.
class NotApplied final : public std::exception {
public:
    explicit NotApplied(std::string message) : message_(std::move(message)) {}
    const char* what() const noexcept override { return message_.c_str(); }

private:
    std::string message_;
};

}  // namespace

Result<> Collection::validate_chunk(Chunk& chunk, std::size_t dimension,
                                    const Principal& principal) const {
    const Schema& schema = manifest_.schema;
    BRAID_CHECK(check_id(chunk.chunk_id, "chunk_id"));
    if (chunk.document_id.empty()) chunk.document_id = chunk.chunk_id;
    BRAID_CHECK(check_id(chunk.document_id, "document_id"));
    BRAID_CHECK(text::require_utf8(chunk.content, "content"));
    if (chunk.title) BRAID_CHECK(text::require_utf8(*chunk.title, "title"));
    if (chunk.section_title) BRAID_CHECK(text::require_utf8(*chunk.section_title, "section_title"));
    BRAID_CHECK(check_object(chunk.metadata));
    BRAID_CHECK(docs::check_metadata(chunk.metadata, schema));
    BRAID_CHECK(check_labels(chunk.sensitivity, chunk.visibility_scope, schema));
    if (!schema.vectors.has_vectors()) {
        if (chunk.vector.empty()) return {};
        return invalid_argument(
            "it has a vector, but the collection holds none; create it with the embedder "
            "\"external\" to bring vectors of your own");
    }
    if (chunk.vector.empty()) {
        return invalid_argument(
            "it has no vector, and the collection takes its vectors from the embedder \"" +
            schema.vectors.embedder + "\"");
    }
    std::size_t shown = dimension;
    if (chunk.vector.size() != dimension && this->dimension() != 0) {
        BRAID_TRY(shown, visible_dimension(principal));
    }
    return check_vector(chunk.vector, dimension, shown, schema.vectors.metric);
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
            return fail(ErrorCode::Conflict, "chunk \"" + id + "\" has version " +
                                                 std::to_string(version) + ", not " +
                                                 std::to_string(*options.if_version));
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
        return fail(ErrorCode::Conflict, "the chunk id \"" + id + "\" is taken");
    }
    return {};
}

Result<WriteReport> Collection::commit(std::span<const std::byte> payload,
                                       const std::function<Result<WriteReport>(Stamp)>& apply) {
    Result<WriteReport> report;
    const auto appended = log()->append(payload, [&](std::uint64_t sequence) {
        const std::unique_lock lock(state_mutex_);
        report = apply({sequence, versions_.of(sequence, payload)});
        // The record is in the log, and memory is not what it says: nothing may follow it.
        if (!report) throw NotApplied(report.error().message);
        settle(sequence);
    });
    if (!appended) return fail("collection \"" + name_ + "\"", appended.error());
    return report;
}

Result<WriteReport> Collection::upsert(const std::string& namespace_, std::vector<Chunk> chunks,
                                       const WriteOptions& options) {
    BRAID_CHECK(check_id(namespace_, "namespace"));
    BRAID_CHECK(check_characters(namespace_, "namespace"));
    if (chunks.empty()) return WriteReport{};
    wait_for_room();
    const auto& made_by = manifest_.schema.vectors.fingerprint;
    if (options.vectors_by && made_by && !made_by->hard_equal(*options.vectors_by)) {
        return fail(ErrorCode::Conflict,
                    "the vectors of collection \"" + name_ + "\" are made by \"" + made_by->model +
                        "\", those of the batch by \"" + options.vectors_by->model + "\"");
    }
    std::shared_lock shared(write_gate_, std::defer_lock);
    std::unique_lock alone(write_gate_, std::defer_lock);
    const bool first_vectors = manifest_.schema.vectors.has_vectors() && dimension() == 0;
    const bool depends =
        options.if_version || options.replace_documents || !options.principal.sees_everything();
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
        auto valid = validate_chunk(chunk, expected, options.principal);
        if (valid) valid = check_characters(chunk);
        if (!valid) return fail("chunk \"" + shown(chunk.chunk_id) + "\"", valid.error());
        if (!seen.insert(chunk.chunk_id).second) {
            return invalid_argument("chunk \"" + chunk.chunk_id + "\" stands twice in one batch");
        }
        chunk.version = 0;
        if (depends) ids.push_back(chunk.chunk_id);
    }
    BRAID_CHECK(check_taken(namespace_, ids, options.principal));
    BRAID_CHECK(check_versions({.namespace_ = namespace_}, ids, options));
    std::vector<std::string> outdated;
    if (options.replace_documents) {
        BRAID_CHECK(check_owners(namespace_, chunks));  // what is hidden was refused before
        BRAID_TRY(outdated, left_out(namespace_, chunks, options.principal));
        if (!outdated.empty()) BRAID_CHECK(raise_format());
    }
    auto out = start_record(outdated.empty() ? kUpsert : kReplace, namespace_, chunks.size());
    std::vector<index::PreparedChunk> prepared;
    prepared.reserve(chunks.size());
    for (Chunk& chunk : chunks) {
        docs::write_chunk(out, chunk);
        prepared.push_back(prepare(std::move(chunk)));
    }
    if (!outdated.empty()) write_removals(out, outdated);
    return commit(out.view(), [&](Stamp stamp) -> Result<WriteReport> {
        BRAID_TRY(WriteReport report, apply_upsert(namespace_, std::move(prepared), stamp));
        if (outdated.empty()) return report;
        BRAID_TRY(const WriteReport removed, apply_remove(namespace_, outdated, stamp));
        report.removed = removed.written;
        return report;
    });
}

Result<WriteReport> Collection::update(const std::string& namespace_,
                                       std::vector<MetadataUpdate> updates,
                                       const WriteOptions& options) {
    BRAID_CHECK(check_id(namespace_, "namespace"));
    if (updates.empty()) return WriteReport{};
    const std::unique_lock alone(write_gate_);
    std::vector<std::string> ids;
    auto out = start_record(kUpdate, namespace_, updates.size());
    for (const MetadataUpdate& update : updates) {
        ids.push_back(update.chunk_id);
        BRAID_CHECK(check_labels(update.sensitivity,
                                 update.visibility_scope.value_or(std::vector<std::string>()),
                                 manifest_.schema));
        for (const std::string& scope :
             update.visibility_scope.value_or(std::vector<std::string>())) {
            BRAID_CHECK(check_characters(scope, "visibility_scope"));
        }
        BRAID_CHECK(check_object(update.metadata));
        docs::write_update(out, update);
    }
    if (std::unordered_set<std::string_view>(ids.begin(), ids.end()).size() != ids.size()) {
        return invalid_argument("a chunk stands twice in one batch of updates");
    }
    BRAID_TRY(const ViewPtr view, present(namespace_, options.principal));
    for (const MetadataUpdate& update : updates) {
        BRAID_TRY(const index::Found found, view->find(update.chunk_id));
        if (!found) {
            return fail(ErrorCode::NotFound, "there is no chunk \"" + update.chunk_id +
                                                 "\" in namespace \"" + namespace_ + "\"");
        }
        Object merged = found.chunk->metadata;
        docs::merge_patch(merged, update.metadata);
        BRAID_CHECK(docs::check_metadata(merged, manifest_.schema));
    }
    BRAID_CHECK(check_versions({.namespace_ = namespace_}, ids, options));
    return commit(out.view(),
                  [&](Stamp stamp) { return apply_updates(namespace_, updates, stamp); });
}

Result<WriteReport> Collection::apply_upsert(const std::string& namespace_,
                                             std::vector<index::PreparedChunk> chunks,
                                             Stamp stamp) {
    WriteReport report{.written = chunks.size(), .version = stamp.version};
    for (index::PreparedChunk& prepared : chunks) {
        if (dimension_ == 0) dimension_ = prepared.chunk.vector.size();
        if (prepared.chunk.version == 0) prepared.chunk.version = report.version;
    }
    BRAID_TRY(report.replaced, index_->upsert(namespace_, std::move(chunks), stamp.sequence));
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
        BRAID_CHECK(apply_upsert(record.namespace_, std::move(chunks), stamp));
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
