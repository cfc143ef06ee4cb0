#include "braid/local/versions.hpp"

#include <cstddef>

#include "braid/core/sha256.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/log_format.hpp"

namespace braid::local {

Version Versions::of(Sequence sequence, std::span<const std::byte> payload) const {
    constexpr Version most = (Version{1} << 53U) - 1;
    store::ByteWriter out;
    out.u64(log_id_);
    out.u64(base_ + sequence);
    // After a restored backup, or the loss of a log's end, a second record may come under the same
    // number; it is a different one.
    out.u64(store::checksum(payload));
    core::Sha256 hash;
    hash.update(out.view());
    Version version = 0;
    const core::Sha256::Digest digest = hash.finish();
    for (const std::byte byte : std::span(digest).first(sizeof(Version))) {
        version = version << 8U | std::to_integer<Version>(byte);
    }
    return version % most + 1;
}

std::uint64_t log_id_of(const store::Directory& files, const std::string& log) {
    const auto file = files.open(log);
    if (!file) return 0;
    const auto bytes = (*file)->bytes();
    if (const auto header = store::decode_log_header(bytes, log); header && *header) {
        return (*header)->log_id;
    }
    const auto first = store::decode_record_header(bytes, store::kLogHeaderBytes);
    return first ? first->log_id : 0;
}

}  // namespace braid::local
