#include "braid/local/log_reading.hpp"

#include <utility>

#include "braid/local/records.hpp"

namespace braid::local {

Result<> LogReading::add(Sequence sequence, std::span<const std::byte> payload) {
    if (sequence > last_) return {};
    BRAID_TRY(LogRecord record, decode_record(payload));
    Chunks& chunks = namespaces_[record.namespace_];
    const Version version = versions_.of(sequence, payload);
    if (record.drops_namespace) {
        chunks.clear();
        removed_[record.namespace_].clear();
        dropped_.insert(record.namespace_);
        ++writes_;
    }
    for (Chunk& chunk : record.upserts) {
        if (chunk.version == 0) chunk.version = version;
        std::string id = chunk.chunk_id;
        chunks.insert_or_assign(std::move(id), std::move(chunk));
    }
    std::set<std::string>& removed = removed_[record.namespace_];
    for (const MetadataUpdate& update : record.updates) {
        auto found = chunks.find(update.chunk_id);
        const bool gone = removed.contains(update.chunk_id) || dropped_.contains(record.namespace_);
        if (found == chunks.end() && earlier_ && !gone) {
            BRAID_TRY(auto chunk, earlier_(record.namespace_, update.chunk_id));
            if (chunk) found = chunks.emplace(update.chunk_id, *std::move(chunk)).first;
        }
        if (found == chunks.end()) continue;  // a delete came first
        index::apply_update(update, found->second);
        found->second.version = version;
    }
    for (const std::string& id : record.removals) {
        chunks.erase(id);
        removed.insert(id);
    }
    writes_ += record.upserts.size() + record.updates.size() + record.removals.size();
    taken_ = sequence;
    return {};
}

void LogReading::put(const std::string& namespace_, Chunk chunk) {
    ++writes_;
    std::string id = chunk.chunk_id;
    namespaces_[namespace_].insert_or_assign(std::move(id), std::move(chunk));
}

std::uint64_t LogReading::chunks() const {
    std::uint64_t count = 0;
    for (const auto& [name, in_namespace] : namespaces_) count += in_namespace.size();
    return count;
}

Result<std::uint64_t> LogReading::replaced() const {
    if (!earlier_) return 0;
    std::uint64_t count = 0;
    for (const auto& [name, in_namespace] : namespaces_) {
        for (const auto& [id, chunk] : in_namespace) {
            BRAID_TRY(const auto before, earlier_(name, id));
            count += before ? 1 : 0;
        }
    }
    return count;
}

}  // namespace braid::local
