#include "braid/local/records.hpp"

#include <string_view>
#include <utility>

#include "braid/docs/chunk_codec.hpp"

namespace braid::local {
namespace {

Result<> read_upserts(store::ByteReader& in, std::size_t count, bool with_versions,
                      std::vector<Chunk>& chunks) {
    chunks.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        Version version = 0;
        if (with_versions) {
            BRAID_TRY(version, in.u64("version"));
        }
        BRAID_TRY(Chunk chunk, docs::read_chunk(in));
        chunk.version = version;
        chunks.push_back(std::move(chunk));
    }
    return {};
}

Result<> read_removals(store::ByteReader& in, std::size_t count, std::vector<std::string>& ids) {
    ids.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        BRAID_TRY(const std::string_view id, in.string("chunk_id"));
        ids.emplace_back(id);
    }
    return {};
}

}  // namespace

Result<LogRecord> decode_record(std::span<const std::byte> payload) {
    store::ByteReader in(payload, "log record");
    LogRecord record;
    BRAID_TRY(const std::uint8_t kind, in.u8("record kind"));
    BRAID_TRY(record.namespace_, in.string("namespace"));
    BRAID_TRY(const std::size_t count, in.count(1, "count"));
    if (kind == kUpsert || kind == kCopy) {
        BRAID_CHECK(read_upserts(in, count, kind == kCopy, record.upserts));
    } else if (kind == kUpdate) {
        for (std::size_t i = 0; i < count; ++i) {
            BRAID_TRY(MetadataUpdate update, docs::read_update(in));
            record.updates.push_back(std::move(update));
        }
    } else if (kind == kRemove) {
        BRAID_CHECK(read_removals(in, count, record.removals));
    } else if (kind == kReplace) {
        BRAID_CHECK(read_upserts(in, count, false, record.upserts));
        BRAID_TRY(const std::size_t removals, in.count(1, "count of deletions"));
        BRAID_CHECK(read_removals(in, removals, record.removals));
    } else if (kind == kDropNamespace) {
        if (count != 0) return in.corrupt("a dropped namespace with items");
        record.drops_namespace = true;
    } else {
        return in.corrupt("unknown record kind " + std::to_string(kind));
    }
    BRAID_CHECK(in.expect_end("record"));
    return record;
}

}  // namespace braid::local
