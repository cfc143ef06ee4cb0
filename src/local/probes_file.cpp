#include "braid/local/probes_file.hpp"

#include "braid/docs/probes_codec.hpp"
#include "braid/store/bytes.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/sealed.hpp"

namespace braid::local {
namespace {

constexpr std::uint32_t kProbesMagic = 0x42505242;  // "BRPB"
constexpr std::uint32_t kProbesVersion = 1;

}  // namespace

Result<ProbesByNamespace> read_probes(const store::Directory& files) {
    ProbesByNamespace probes;
    const auto file = files.open(kProbesName);
    if (!file) {
        if (file.error().code == ErrorCode::NotFound) return probes;
        return tl::unexpected(file.error());
    }
    store::ByteReader in((*file)->bytes(), files.path() + "/" + std::string(kProbesName));
    BRAID_CHECK(store::open_sealed(in, kProbesMagic, kProbesVersion, "a file of probes"));
    BRAID_TRY(const std::size_t spaces, in.count(36, "namespaces"));
    for (std::size_t i = 0; i < spaces; ++i) {
        BRAID_TRY(const std::string_view name, in.string("namespace"));
        BRAID_TRY(probes[std::string(name)], docs::read_probes(in));
    }
    BRAID_CHECK(in.expect_end("probes"));
    return probes;
}

Result<> write_probes(store::Directory& files, const ProbesByNamespace& probes) {
    store::ByteWriter out;
    store::begin_sealed(out, kProbesMagic, kProbesVersion);
    out.varint(probes.size());
    for (const auto& [name, one] : probes) {
        out.string(name);
        docs::write_probes(out, one);
    }
    store::seal(out, kProbesVersion);
    return files.replace(kProbesName, out.view());
}

}  // namespace braid::local
