#include <utility>

#include "braid/core/rfc3339.hpp"
#include "braid/json/fields.hpp"
#include "braid/service/operations.hpp"
#include "braid/service/parameters.hpp"
#include "braid/wire/chunk_json.hpp"
#include "braid/wire/schema_json.hpp"

namespace braid::service {
namespace {

using json::Fields;

/// The chunks of one call, and what was said about them.
struct Batch {
    std::vector<Chunk> chunks;
    std::vector<std::string> warnings;
    bool has_vectors = false;
};

Result<const Array*> read_list(Fields& fields, std::string_view key, std::size_t limit) {
    BRAID_TRY(const Array* const list, fields.array(key));
    if (list == nullptr) return invalid_argument("\"" + fields.path_of(key) + "\" is required");
    if (list->empty() || list->size() > limit) {
        return invalid_argument("\"" + fields.path_of(key) + "\" must hold 1 to " +
                                std::to_string(limit) + " members, got " +
                                std::to_string(list->size()));
    }
    return list;
}

std::string place(std::string_view key, std::size_t i) {
    return std::string(key) + "[" + std::to_string(i) + "]";
}

/// `target` is where the chunks go; a chunk that names another namespace is refused, because a call
/// is written whole or not at all.
Result<Batch> read_chunks(const Array& list, const std::string& target,
                          const core::Vocabulary& vocabulary) {
    Batch batch;
    batch.chunks.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        auto input = wire::chunk_from_value(list[i], vocabulary);
        if (!input) return fail(place("chunks", i), std::move(input).error());
        if (auto fits = wire::check_namespace(*input, target); !fits) {
            return fail(place("chunks", i), std::move(fits).error());
        }
        for (std::string& warning : input->warnings) {
            batch.warnings.push_back(place("chunks", i) + ": " + std::move(warning));
        }
        batch.has_vectors = batch.has_vectors || !input->chunk.vector.empty();
        batch.chunks.push_back(std::move(input->chunk));
    }
    return batch;
}

Result<MetadataUpdate> read_update(const Value& json) {
    BRAID_TRY(Fields fields, Fields::of(json));
    MetadataUpdate update;
    BRAID_TRY(update.chunk_id, fields.required("chunk_id", fields.string("chunk_id")));
    BRAID_TRY(const Object* const metadata, fields.object("metadata"));
    if (metadata != nullptr) update.metadata = *metadata;
    for (const auto& [key, into] : {std::pair("created_at", &update.created_at),
                                    std::pair("expires_at", &update.expires_at)}) {
        BRAID_TRY(const auto time, fields.string(key));
        if (!time) continue;
        BRAID_TRY(*into, core::parse_rfc3339(*time));
    }
    BRAID_TRY(update.sensitivity, fields.string("sensitivity"));
    BRAID_TRY(update.visibility_scope, fields.strings("visibility_scope"));
    BRAID_CHECK(fields.finish());
    return update;
}

}  // namespace

Result<bool> Operations::ensure_collection(const std::string& name, const Schema* schema) const {
    const auto existing = database_.describe(name);
    if (existing) return false;
    if (existing.error().code != ErrorCode::NotFound) return tl::unexpected(existing.error());
    Schema wanted;
    wanted.vectors.embedder = options_.embedder;
    const auto created = database_.create_collection(name, schema != nullptr ? *schema : wanted);
    // Somebody else may have been faster.
    if (!created && created.error().code == ErrorCode::AlreadyExists) return false;
    if (!created) return tl::unexpected(created.error());
    return true;
}

Result<WriteReport> Operations::write(const std::string& collection, std::vector<Chunk> chunks,
                                      const std::string& namespace_, const Caller& caller,
                                      WriteOptions options) const {
    options.principal = caller.principal;
    options.limits = caller.call;
    options.limits.deadline.reset();  // vectors take their time; a client that goes away ends it
    BRAID_TRY(WriteReport report,
              database_.add(collection, std::move(chunks), namespace_, options));
    caller.note_change(collection, report.written);
    return report;
}

Result<Value> Operations::add(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Write));
    BRAID_TRY(const Array* const list, read_list(fields, "chunks", caller.limits.chunks));
    BRAID_TRY(WriteOptions options, read_write_options(fields));
    BRAID_TRY(const auto whole, fields.boolean("replace_documents"));
    options.replace_documents = whole.value_or(false);
    BRAID_TRY(const auto skip, fields.boolean("skip_unchanged"));
    options.skip_unchanged = skip.value_or(false);
    const Value* const schema_json = fields.any("schema");
    BRAID_CHECK(fields.finish());
    BRAID_TRY(Batch batch, read_chunks(*list, scope.namespace_, database_.vocabulary()));
    std::optional<Schema> schema;
    if (schema_json != nullptr && !schema_json->is_null()) {
        BRAID_TRY(schema, wire::schema_from_value(*schema_json));
        BRAID_CHECK(check_embedder(*schema));
    } else if (batch.has_vectors) {
        schema.emplace().vectors.embedder = "external";
    }
    BRAID_TRY(const bool created, ensure_collection(scope.collection, schema ? &*schema : nullptr));
    Array ids;
    ids.reserve(batch.chunks.size());
    for (const Chunk& chunk : batch.chunks) ids.emplace_back(chunk.chunk_id);
    BRAID_TRY(WriteReport report,
              write(scope.collection, std::move(batch.chunks), scope.namespace_, caller, options));
    for (std::string& warning : report.warnings) batch.warnings.push_back(std::move(warning));
    return Value(Object{{"collection", Value(scope.collection)},
                        {"created", created},
                        {"namespace", Value(scope.namespace_)},
                        {"chunk_ids", std::move(ids)},
                        {"written", report.written},
                        {"replaced", report.replaced},
                        {"removed", report.removed},
                        {"unchanged", report.unchanged},
                        {"version", report.version},
                        {"warnings", strings_to_array(batch.warnings)}});
}

Result<Value> Operations::update(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Write));
    BRAID_TRY(const Array* const list, read_list(fields, "updates", caller.limits.chunks));
    BRAID_TRY(WriteOptions options, read_write_options(fields));
    BRAID_CHECK(fields.finish());
    std::vector<MetadataUpdate> updates;
    updates.reserve(list->size());
    for (std::size_t i = 0; i < list->size(); ++i) {
        auto update = read_update((*list)[i]);
        if (!update) return fail(place("updates", i), std::move(update).error());
        updates.push_back(*std::move(update));
    }
    options.principal = caller.principal;  // what it may not see does not exist for it
    BRAID_TRY(const WriteReport report,
              database_.update(scope.collection, std::move(updates), scope.namespace_, options));
    caller.note_change(scope.collection, report.written);
    return Value(Object{{"collection", Value(scope.collection)},
                        {"updated", report.written},
                        {"version", report.version},
                        {"warnings", strings_to_array(report.warnings)}});
}

Result<Value> Operations::remove(const Object& params, const Caller& caller) const {
    Fields fields(params);
    BRAID_TRY(const ReadScope scope, read_scope(fields, caller, Access::Write));
    BRAID_TRY(WriteOptions options, read_write_options(fields));
    options.limits = caller.call;
    DeleteSelector selector;
    int kinds = 0;
    for (const auto& [key, ids] : {std::pair("chunk_ids", &selector.chunk_ids),
                                   std::pair("document_ids", &selector.document_ids)}) {
        const Value* const given = fields.any(key);
        if (given == nullptr || given->is_null()) continue;
        BRAID_TRY(*ids, read_ids(fields, key, caller.limits.ids));
        ++kinds;
    }
    const Value* const filter = fields.any("filter");
    if (filter != nullptr && !filter->is_null()) {
        BRAID_TRY(selector.filter, parse_filter(*filter));
        ++kinds;
    }
    BRAID_TRY(const auto everything, fields.boolean("everything"));
    BRAID_CHECK(fields.finish());
    if (kinds != 1) {
        return invalid_argument(R"(give one of "chunk_ids", "document_ids" and "filter")");
    }
    if (selector.filter == Filter{} && !everything.value_or(false)) {
        return invalid_argument(
            R"(this filter deletes every chunk; say "everything": true if you mean it)");
    }
    BRAID_TRY(const WriteReport report, database_.remove(scope, selector, options));
    caller.note_change(scope.collection, report.written);
    return Value(Object{{"collection", Value(scope.collection)},
                        {"deleted", report.written},
                        {"version", report.version}});
}

}  // namespace braid::service
