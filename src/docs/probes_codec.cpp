#include "braid/docs/probes_codec.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace braid::docs {

void write_probes(store::ByteWriter& out, const LegProbes& probes) {
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

Result<LegProbes> read_probes(store::ByteReader& in) {
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

}  // namespace braid::docs
