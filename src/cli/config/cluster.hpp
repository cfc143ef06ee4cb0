#pragma once

#include <string>

#include "braid/cli/args/arguments.hpp"
#include "braid/cli/config/settings.hpp"
#include "braid/database.hpp"
#include "braid/result.hpp"

namespace braid::cli {

/// Whether collections are kept in a cluster: --backend, else the configuration's.
bool on_cluster(const Arguments& arguments, const Settings& settings);

/// The cluster of the flags and the configuration. A configured key goes only to the configured
/// nodes: InvalidArgument if --url names others and there is no --key.
Result<ClusterEndpoint> cluster_endpoint(const Arguments& arguments, const Settings& settings);
/// The same, with nodes that a command names.
Result<ClusterEndpoint> cluster_endpoint(const Arguments& arguments, const Settings& settings,
                                         const std::string& urls);

}  // namespace braid::cli
