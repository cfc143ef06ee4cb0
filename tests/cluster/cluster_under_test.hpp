#pragma once

#include <memory>
#include <string>
#include <vector>

#include "braid/backend.hpp"
#include "braid/remote/backend.hpp"

namespace braid::testing {

/// The nodes of the cluster that BRAID_CLUSTER_URL names, comma-separated.
std::vector<std::string> cluster_urls();

/// A backend of its own on that cluster: no other has its prefix, unless `options` names one. Its
/// indexes are removed with it.
/// Through `options.urls`, or all nodes if there are none.
std::unique_ptr<Backend> make_cluster_backend(const remote::RemoteOptions& options = {});

}  // namespace braid::testing
