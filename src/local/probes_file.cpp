#include "braid/local/probes_file.hpp"

#include <bit>

#include "braid/store/bytes.hpp"
#include "braid/store/checksum.hpp"
#include "braid/store/directory.hpp"

namespace braid::local {
namespace {

constexpr std::uint32_t kProbesMagic = 0x42505242;  // "BRPB"
constexpr std::uint32_t kProbesVersion = 1;

void write_number(store::ByteWriter& out, double number) {
    out.u64(std::bit_cast<std::uint64_t>(number));
}

Result<double> read_number(store::ByteReader& in, std::string_view what) {
    BRAID_TRY(const std::uint64_t bits, in.u64(what));
    return std::bit_cast<double>(bits);
}

void write_one(store::ByteWriter& out, const LegProbes& probes) {
    out.varint(probes.chunks);
    out.varint(probes.among);
    for (const LegProbes::Spread& spread : {probes.random_dense, probes.random_sparse}) {
        write_number(out, spread.mean);
        write_number(out, spread.deviation);
    }
    out.varint(probes.kinds.size());
    for (const LegProbes::Kind& kind : probes.kinds) {
        out.string(kind.name);
        out.varint(kind.asked);
        write_number(out, kind.dense);
        write_number(out, kind.sparse);
    }
}

Result<LegProbes> read_one(store::ByteReader& in) {
    LegProbes probes;
    BRAID_TRY(probes.chunks, in.varint("chunks"));
    BRAID_TRY(probes.among, in.varint("searched chunks"));
    for (LegProbes::Spread* const spread : {&probes.random_dense, &probes.random_sparse}) {
        BRAID_TRY(spread->mean, read_number(in, "mean"));
        BRAID_TRY(spread->deviation, read_number(in, "deviation"));
    }
    BRAID_TRY(const std::size_t kinds, in.count(18, "kinds"));
    for (std::size_t i = 0; i < kinds; ++i) {
        LegProbes::Kind& kind = probes.kinds.emplace_back();
        BRAID_TRY(const std::string_view name, in.string("kind"));
        kind.name = name;
        BRAID_TRY(kind.asked, in.varint("questions"));
        BRAID_TRY(kind.dense, read_number(in, "dense"));
        BRAID_TRY(kind.sparse, read_number(in, "sparse"));
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
    BRAID_TRY(const std::uint32_t magic, in.u32("magic number"));
    BRAID_TRY(const std::uint32_t version, in.u32("version"));
    BRAID_TRY(const std::uint64_t checksum, in.u64("checksum"));
    if (magic != kProbesMagic || version != kProbesVersion ||
        store::checksum(in.rest(), version) != checksum) {
        return in.corrupt("this is not a file of probes");
    }
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
    out.u32(kProbesMagic);
    out.u32(kProbesVersion);
    out.u64(0);  // the checksum's place
    const std::size_t start = out.size();
    out.varint(probes.size());
    for (const auto& [name, one] : probes) {
        out.string(name);
        write_one(out, one);
    }
    out.patch_u64(start - 8, store::checksum(out.view().subspan(start), kProbesVersion));
    return files.replace(kProbesName, out.view());
}

}  // namespace braid::local
