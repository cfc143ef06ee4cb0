#pragma once

#include <map>
#include <string>
#include <string_view>

#include "braid/collection.hpp"
#include "braid/result.hpp"

namespace braid::store {
class Directory;
}

namespace braid::local {

/// The file of what is known about the legs (docs/formats/README.md). It is made again if it is
/// lost.
inline constexpr std::string_view kProbesName = "probes";

using ProbesByNamespace = std::map<std::string, LegProbes, std::less<>>;

/// Empty if there is none. Corruption if it cannot be read.
Result<ProbesByNamespace> read_probes(const store::Directory& files);

Result<> write_probes(store::Directory& files, const ProbesByNamespace& probes);

}  // namespace braid::local
