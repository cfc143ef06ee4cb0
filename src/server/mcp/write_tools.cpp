#include "braid/server/mcp/write_tools.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/core/base64.hpp"
#include "braid/core/clock.hpp"
#include "braid/ingest/chunker.hpp"
#include "braid/ingest/read_source.hpp"
#include "braid/json/fields.hpp"
#include "braid/service/operation_json.hpp"
#include "braid/service/parameters.hpp"
#include "braid/wire/chunk_json.hpp"

namespace braid::server {
namespace {

using json::Fields;

constexpr std::size_t kMaxDocumentId = 500;

Result<std::string> posted_bytes(std::string_view text) {
    std::string digits(text);
    std::erase_if(digits, [](char c) { return c == '\n' || c == '\r'; });
    const auto bytes = core::decode_base64(digits);
    if (!bytes) return invalid_argument("\"content_base64\" is not base64");
    return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

Result<Object> read_metadata(Fields& fields) {
    BRAID_TRY(const Object* const metadata, fields.object("metadata"));
    if (metadata == nullptr) return Object{};
    if (metadata->find("trust") != nullptr) {
        return invalid_argument(R"("metadata.trust" cannot be set by a tool)");
    }
    return *metadata;
}

Result<ingest::ChunkingOptions> chunking_of(const Database& database,
                                            const std::string& collection) {
    ingest::ChunkingOptions options;
    BRAID_TRY(const auto counter, database.token_counter(collection));
    if (!counter) return options;
    options.count_tokens = counter->count;
    if (counter->limit > 0) options.max_tokens = std::min(options.max_tokens, counter->limit);
    return options;
}

}  // namespace

Result<Value> remember(const service::Operations& operations, const Object& arguments,
                       const service::Caller& caller) {
    const std::string collection = "memory";
    BRAID_CHECK(caller.require(service::Access::Write, collection));
    const std::string home = caller.namespaces.usual();
    BRAID_CHECK(caller.namespaces.require(home));
    Fields fields(arguments);
    BRAID_TRY(std::string text, service::read_text(fields, "text", caller.limits.message_bytes));
    BRAID_TRY(const auto id, fields.string("id"));
    BRAID_TRY(const auto title, fields.string("title"));
    BRAID_TRY(Object metadata, read_metadata(fields));
    BRAID_CHECK(fields.finish());
    Object members{{"text", Value(std::move(text))}, {"metadata", Value(std::move(metadata))}};
    if (id) members.set("_id", *id);
    if (title) members.set("title", *title);
    BRAID_TRY(wire::ChunkInput input,
              wire::chunk_from_value(members, operations.database().vocabulary()));
    if (!input.chunk.created_at) input.chunk.created_at = core::system_now();
    std::string chunk_id = input.chunk.chunk_id;
    BRAID_CHECK(operations.ensure_collection(collection, nullptr));
    std::vector<Chunk> chunks;
    chunks.push_back(std::move(input.chunk));
    BRAID_TRY(const WriteReport report,
              operations.write(collection, std::move(chunks), home, caller));
    std::vector<std::string> warnings = std::move(input.warnings);
    warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
    return Value(Object{{"id", Value(std::move(chunk_id))},
                        {"collection", Value(collection)},
                        {"replaced", report.replaced > 0},
                        {"warnings", service::strings_to_array(warnings)}});
}

Result<Value> ingest_document(const service::Operations& operations, NewDocument document,
                              const ReadScope& scope, const service::Caller& caller) {
    document.metadata.set("artifact_id", document.id);
    ingest::ReadSource source;
    if (!ingest::trimmed(document.bytes).empty()) {
        BRAID_TRY(source, ingest::read_source(document.name, std::move(document.bytes)));
    }
    if (document.title && !document.title->empty()) source.document.title = document.title;
    const auto without_text = [&]() -> Result<Value> {  // what it had goes
        service::RemoveRequest old;
        old.at = {scope.collection, scope.namespace_};
        old.which.document_ids = {document.id};
        const auto done = operations.run(std::move(old), caller);
        if (!done && done.error().code != ErrorCode::NotFound) {
            return tl::unexpected<Error>(done.error());
        }
        std::vector<std::string> warnings = source.failed_lines.as_warnings(document.name);
        warnings.emplace_back("it holds no text");
        return Value(Object{{"document_id", Value(document.id)},
                            {"collection", Value(scope.collection)},
                            {"chunks", 0},
                            {"removed", done ? done->write.written : 0},
                            {"format", Value(source.format)},
                            {"encoding", Value(source.encoding)},
                            {"warnings", service::strings_to_array(warnings)}});
    };
    // It does not make a collection.
    if (ingest::trimmed(source.document.text).empty()) return without_text();
    BRAID_CHECK(operations.ensure_collection(scope.collection, nullptr));
    BRAID_TRY(const auto options, chunking_of(operations.database(), scope.collection));
    std::vector<Chunk> chunks = ingest::chunk_document(document.id, source.document, options);
    if (chunks.empty()) return without_text();
    if (chunks.size() > caller.limits.chunks) {
        return invalid_argument("it makes " + std::to_string(chunks.size()) +
                                " chunks, the limit is " + std::to_string(caller.limits.chunks));
    }
    const Timestamp stored_at = core::system_now();
    for (Chunk& chunk : chunks) {
        for (const auto& [key, value] : document.metadata) chunk.metadata.set(key, value);
        if (!chunk.created_at) chunk.created_at = stored_at;
    }
    const std::size_t count = chunks.size();
    WriteOptions whole;
    whole.replace_documents = true;
    BRAID_TRY(const WriteReport report, operations.write(scope.collection, std::move(chunks),
                                                         scope.namespace_, caller, whole));
    std::vector<std::string> warnings = source.failed_lines.as_warnings(document.name);
    warnings.insert(warnings.end(), source.warnings.begin(), source.warnings.end());
    warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
    return Value(Object{{"document_id", Value(document.id)},
                        {"collection", Value(scope.collection)},
                        {"chunks", count},
                        {"removed", report.removed},
                        {"format", Value(source.format)},
                        {"encoding", Value(source.encoding)},
                        {"warnings", service::strings_to_array(warnings)}});
}

Result<Value> ingest_text(const service::Operations& operations, const Object& arguments,
                          const service::Caller& caller, std::string_view collection) {
    Fields fields(arguments);
    NewDocument document;
    BRAID_TRY(const auto name, fields.string("name"));
    if (name && arguments.find("document_id") == nullptr) {
        document.id = *name;
    } else {
        BRAID_TRY(document.id, service::read_text(fields, "document_id", kMaxDocumentId));
    }
    BRAID_TRY(document.title, fields.string("title"));
    BRAID_TRY(const auto format, fields.choice("format", {"markdown", "plain"}));
    BRAID_TRY(const auto packed, fields.string("content_base64"));
    if (packed) {
        BRAID_TRY(document.bytes, posted_bytes(*packed));
        if (!name) return invalid_argument("\"content_base64\" needs the \"name\" of the file");
    } else {
        BRAID_TRY(document.bytes, service::read_text(fields, "text", caller.limits.message_bytes));
    }
    document.name = format == "plain" ? "text.txt" : name.value_or("text.md");
    BRAID_TRY(document.metadata, read_metadata(fields));
    BRAID_TRY(const ReadScope scope,
              service::read_scope(fields, caller, service::Access::Write, collection));
    BRAID_CHECK(fields.finish());
    if (document.id.empty() || document.id.size() > kMaxDocumentId) {
        return invalid_argument("\"document_id\" must have 1 to 500 bytes");
    }
    return ingest_document(operations, std::move(document), scope, caller);
}

Result<Value> ingest_text(const service::Operations& operations, const Object& arguments,
                          const service::Caller& caller) {
    return ingest_text(operations, arguments, caller, "artifact_chunks");
}

Result<Value> forget(const service::Operations& operations, const Object& arguments,
                     const service::Caller& caller) {
    Fields fields(arguments);
    for (const std::string_view key : {"collection", "chunk_ids", "document_ids"}) fields.any(key);
    BRAID_CHECK(fields.finish());
    Object params = arguments;
    if (params.find("collection") == nullptr) params.set("collection", "memory");
    BRAID_TRY(Value done, service::run_json<service::RemoveRequest>(operations, params, caller));
    done.as_object().erase("version");
    return done;
}

}  // namespace braid::server
