#include "braid/service/directory_target.hpp"

#include <algorithm>

#include "braid/core/vocabulary.hpp"
#include "braid/wire/chunk_json.hpp"

namespace braid::service {

Result<std::string> ServiceTarget::embedder() {
    BRAID_TRY(Schema schema, service_.schema(collection_));
    return std::move(schema.vectors.embedder);
}

Result<std::optional<TokenCounter>> ServiceTarget::token_counter() {
    return service_.token_counter(collection_);
}

Result<std::vector<std::optional<Chunk>>> ServiceTarget::get(
    const std::vector<std::string>& chunk_ids) {
    Object params = scope();
    params.set("chunk_ids", Array(chunk_ids.begin(), chunk_ids.end()));
    BRAID_TRY(const Value got, service_.call("get", std::move(params)));
    std::vector<std::optional<Chunk>> chunks(chunk_ids.size());
    const Array& list = list_in(got, "chunks");
    for (std::size_t i = 0; i < std::min(list.size(), chunks.size()); ++i) {
        if (list[i].is_null()) continue;
        BRAID_TRY(wire::ChunkInput input, wire::chunk_from_value(list[i], {}));
        chunks[i] = std::move(input.chunk);
    }
    return chunks;
}

Result<std::uint64_t> ServiceTarget::count(const Value& filter) {
    Object params = scope();
    params.set("filter", filter);
    BRAID_TRY(const Value counted, service_.call("count", std::move(params)));
    return number_in(counted, "count");
}

Result<std::vector<Chunk>> ServiceTarget::scan(const Value& filter, const std::string& after,
                                               std::size_t limit) {
    Object params = scope();
    params.set("filter", filter);
    params.set("limit", limit);
    if (!after.empty()) params.set("after", after);
    BRAID_TRY(const Value found, service_.call("scan", std::move(params)));
    std::vector<Chunk> chunks;
    for (const Value& chunk : list_in(found, "chunks")) {
        BRAID_TRY(wire::ChunkInput input, wire::chunk_from_value(chunk, {}));
        chunks.push_back(std::move(input.chunk));
    }
    return chunks;
}

Result<WriteReport> ServiceTarget::replace_in(const std::string& collection,
                                              std::vector<Chunk> chunks) const {
    WriteOptions whole;
    whole.replace_documents = true;
    return service_.add(collection, std::move(chunks), namespace_, whole);
}

Result<WriteReport> ServiceTarget::replace(std::vector<Chunk> chunks) {
    return replace_in(collection_, std::move(chunks));
}

Result<WriteReport> ServiceTarget::replace_whole(std::vector<Chunk> documents) {
    return replace_in(documents_, std::move(documents));
}

Result<> ServiceTarget::update(std::vector<MetadataUpdate> updates) {
    Array list;
    list.reserve(updates.size());
    for (MetadataUpdate& update : updates) {
        list.emplace_back(Object{{"chunk_id", Value(std::move(update.chunk_id))},
                                 {"metadata", Value(std::move(update.metadata))}});
    }
    Object params = scope();
    params.set("updates", std::move(list));
    BRAID_CHECK(service_.call("update", std::move(params)));
    return {};
}

Result<std::uint64_t> ServiceTarget::remove(const std::vector<std::string>& document_ids) {
    Object params = scope();
    params.set("document_ids", Array(document_ids.begin(), document_ids.end()));
    if (!documents_.empty()) {
        Object whole = params;
        whole.set("collection", Value(documents_));
        BRAID_CHECK(service_.call("delete", std::move(whole)));
    }
    BRAID_TRY(const Value report, service_.call("delete", std::move(params)));
    return number_in(report, "deleted");
}

Object ServiceTarget::scope() const {
    return {{"collection", Value(collection_)}, {"namespace", Value(namespace_)}};
}

}  // namespace braid::service
