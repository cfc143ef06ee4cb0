#include "braid/store/sealed.hpp"

#include <string>

#include "braid/store/checksum.hpp"

namespace braid::store {
namespace {

constexpr std::size_t kChecksumPlace = 8;  // after magic number and version
constexpr std::size_t kSealedFrom = kChecksumPlace + 8;

}  // namespace

void begin_sealed(ByteWriter& out, std::uint32_t magic, std::uint32_t version) {
    out.u32(magic);
    out.u32(version);
    out.u64(0);  // the checksum's place
}

void seal(ByteWriter& out, std::uint32_t version) {
    out.patch_u64(kChecksumPlace, checksum(out.view().subspan(kSealedFrom), version));
}

Result<> open_sealed(ByteReader& in, std::uint32_t magic, std::uint32_t version,
                     std::string_view what) {
    BRAID_TRY(const std::uint32_t found_magic, in.u32("magic number"));
    BRAID_TRY(const std::uint32_t found_version, in.u32("version"));
    BRAID_TRY(const std::uint64_t expected, in.u64("checksum"));
    if (found_magic != magic || found_version != version ||
        checksum(in.rest(), version) != expected) {
        return in.corrupt("this is not " + std::string(what));
    }
    return {};
}

}  // namespace braid::store
