#include <algorithm>
#include <span>
#include <utility>

#include "braid/backend.hpp"
#include "braid/service/bounds.hpp"
#include "braid/service/operations.hpp"

namespace braid::service {

namespace {

/// NotFound. Returns the schema rather than a description, which would count what every namespace
/// holds.
Result<Schema> schema_of(const Database& database, const std::string& name) {
    BRAID_TRY(const ReaderPtr reader, database.backend().snapshot(std::span(&name, 1), {}));
    return reader->schema(name);
}

}  // namespace

Result<bool> Operations::ensure_collection(const std::string& name, const Schema* schema) const {
    const auto existing = schema_of(database_, name);
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

Result<AddReport> Operations::perform(AddRequest wanted, const Caller& caller) const {
    BRAID_TRY(const ReadScope scope, scope_of(wanted.at, caller, Access::Write));
    BRAID_CHECK(some_members("chunks", wanted.chunks.size(), caller.limits.chunks));
    if (wanted.schema) {
        BRAID_CHECK(check_embedder(*wanted.schema));
    } else if (std::ranges::any_of(wanted.chunks,
                                   [](const Chunk& chunk) { return !chunk.vector.empty(); })) {
        wanted.schema.emplace().vectors.embedder = "external";
    }
    AddReport report{scope.collection, false, scope.namespace_, {}, {}};
    BRAID_TRY(report.created,
              ensure_collection(scope.collection, wanted.schema ? &*wanted.schema : nullptr));
    report.chunk_ids.reserve(wanted.chunks.size());
    for (const Chunk& chunk : wanted.chunks) report.chunk_ids.push_back(chunk.chunk_id);
    WriteOptions options;
    options.if_version = wanted.if_version;
    options.replace_documents = wanted.replace_documents;
    options.skip_unchanged = wanted.skip_unchanged;
    BRAID_TRY(report.write, write(scope.collection, std::move(wanted.chunks), scope.namespace_,
                                  caller, std::move(options)));
    std::vector<std::string>& warnings = report.write.warnings;
    warnings.insert(warnings.begin(), std::make_move_iterator(wanted.warnings.begin()),
                    std::make_move_iterator(wanted.warnings.end()));
    return report;
}

Result<UpdateReport> Operations::perform(UpdateRequest wanted, const Caller& caller) const {
    BRAID_TRY(const ReadScope scope, scope_of(wanted.at, caller, Access::Write));
    BRAID_CHECK(some_members("updates", wanted.updates.size(), caller.limits.chunks));
    WriteOptions options;
    options.if_version = wanted.if_version;
    options.principal = caller.principal;  // what it may not see does not exist for it
    UpdateReport report{scope.collection, {}};
    BRAID_TRY(report.write, database_.update(scope.collection, std::move(wanted.updates),
                                             scope.namespace_, options));
    caller.note_change(scope.collection, report.write.written);
    return report;
}

Result<RemoveReport> Operations::perform(const RemoveRequest& wanted, const Caller& caller) const {
    BRAID_TRY(const ReadScope scope, scope_of(wanted.at, caller, Access::Write));
    const DeleteSelector& which = wanted.which;
    const int kinds = (which.chunk_ids.empty() ? 0 : 1) + (which.document_ids.empty() ? 0 : 1) +
                      (which.filter ? 1 : 0);
    if (kinds != 1) {
        return invalid_argument(R"(give one of "chunk_ids", "document_ids" and "filter")");
    }
    if (which.filter == Filter{} && !wanted.everything) {
        return invalid_argument(
            R"(this filter deletes every chunk; add "everything": true if you mean it)");
    }
    for (const auto& [key, ids] : {std::pair("chunk_ids", &which.chunk_ids),
                                   std::pair("document_ids", &which.document_ids)}) {
        if (!ids->empty()) BRAID_CHECK(some_ids(key, ids->size(), caller.limits.ids));
    }
    WriteOptions options;
    options.if_version = wanted.if_version;
    options.limits = caller.call;
    RemoveReport report{scope.collection, {}};
    BRAID_TRY(report.write, database_.remove(scope, which, options));
    caller.note_change(scope.collection, report.write.written);
    return report;
}

}  // namespace braid::service
