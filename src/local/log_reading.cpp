#include "braid/local/log_reading.hpp"

#include <utility>

#include "braid/local/records.hpp"

namespace braid::local {

Result<> LogReading::add(Sequence sequence, std::span<const std::byte> payload) {
    if (sequence > last_) return {};
    BRAID_TRY(LogRecord record, decode_record(payload));
    Chunks& chunks = namespaces_[record.namespace_];
    const Version version = versions_.of(sequence, payload);
    for (Chunk& chunk : record.upserts) {
        if (chunk.version == 0) chunk.version = version;
        std::string id = chunk.chunk_id;
        chunks.insert_or_assign(std::move(id), std::move(chunk));
    }
    for (const MetadataUpdate& update : record.updates) {
        const auto found = chunks.find(update.chunk_id);
        if (found == chunks.end()) continue;  // a delete came first
        index::apply_update(update, found->second);
        found->second.version = version;
    }
    for (const std::string& id : record.removals) chunks.erase(id);
    writes_ += record.upserts.size() + record.updates.size() + record.removals.size();
    taken_ = sequence;
    return {};
}

std::uint64_t LogReading::chunks() const {
    std::uint64_t count = 0;
    for (const auto& [name, in_namespace] : namespaces_) count += in_namespace.size();
    return count;
}

}  // namespace braid::local
