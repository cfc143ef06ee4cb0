#include "braid/local/probes_file.hpp"

#include "braid/store/bytes.hpp"
#include "braid/store/directory.hpp"
#include "braid/store/sealed.hpp"

namespace braid::local {
namespace {

constexpr std::uint32_t kProbesMagic = 0x42505242;  // "BRPB"
constexpr std::uint32_t kProbesVersion = 1;

void write_one(store::ByteWriter& out, const LegProbes& probes) {
    out.varint(probes.chunks);
    out.varint(probes.among);
    for (const LegProbes::Spread& spread : {probes.random_dense, probes.random_sparse}) {
        out.f64(spread.mean);
        out.f64(spread.deviation);
    }
    out.varint(probes.kinds.size());
    for (const LegProbes::Kind& kind : probes.kinds) {
        out.string(kind.name);
        out.varint(kind.asked);
        out.f64(kind.dense);
        out.f64(kind.sparse);
    }
}

Result<LegProbes> read_one(store::ByteReader& in) {
    LegProbes probes;
    BRAID_TRY(probes.chunks, in.varint("chunks"));
    BRAID_TRY(probes.among, in.varint("searched chunks"));
    for (LegProbes::Spread* const spread : {&probes.random_dense, &probes.random_sparse}) {
        BRAID_TRY(spread->mean, in.f64("mean"));
        BRAID_TRY(spread->deviation, in.f64("deviation"));
    }
    BRAID_TRY(const std::size_t kinds, in.count(18, "kinds"));
    for (std::size_t i = 0; i < kinds; ++i) {
        LegProbes::Kind& kind = probes.kinds.emplace_back();
        BRAID_TRY(const std::string_view name, in.string("kind"));
        kind.name = name;
        BRAID_TRY(kind.asked, in.varint("questions"));
        BRAID_TRY(kind.dense, in.f64("dense"));
        BRAID_TRY(kind.sparse, in.f64("sparse"));
    }
    return probes;
}

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
        BRAID_TRY(probes[std::string(name)], read_one(in));
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
        write_one(out, one);
    }
    store::seal(out, kProbesVersion);
    return files.replace(kProbesName, out.view());
}

}  // namespace braid::local
