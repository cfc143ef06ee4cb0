#include "backend/conformance.hpp"
#include "cluster/cluster_under_test.hpp"

namespace braid::testing {
namespace {

/// What docs/cluster.md says a cluster lacks.
BackendUnderTest cluster() {
    return {.name = "OpenSearch",
            .make = [] { return make_cluster_backend(); },
            .promised = {.exact_dense = true, .read_your_writes = true},
            .okapi = false,
            .filters_here = false};
}

INSTANTIATE_TEST_SUITE_P(Cluster, BackendConformance, ::testing::Values(cluster()), backend_name);

}  // namespace
}  // namespace braid::testing
