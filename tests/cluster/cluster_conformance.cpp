#include <bit>
#include <cmath>
#include <cstdint>

#include "backend/conformance.hpp"
#include "braid/remote/index_layout.hpp"
#include "cluster/cluster_under_test.hpp"

namespace braid::testing {
namespace {

/// Lucene keeps a length in a byte: below 40 as it is, then in steps of an eighth.
double in_a_byte(double length) {
    const auto whole = static_cast<std::uint64_t>(std::llround(length));
    if (whole < 40) return static_cast<double>(whole);
    const std::uint64_t rest = whole - 24;
    const int dropped = static_cast<int>(std::bit_width(rest)) - 4;
    return static_cast<double>(24 + ((rest >> dropped) << dropped));
}

WordWeighing of_a_cluster(const Schema& schema) {
    const auto scale = static_cast<double>(remote::whole_weights(schema).scale);
    return {.whole_collection = true,
            .wordless_count = false,
            .dead_may_count = true,
            .length = [scale](double length) { return in_a_byte(length * scale) / scale; }};
}

/// What docs/cluster.md says a cluster lacks.
BackendUnderTest cluster() {
    return {.name = "OpenSearch",
            .make = [] { return make_cluster_backend({.shards = 3}); },
            .promised = {.exact_dense = true,
                         .query_language = true,
                         .read_your_writes = true,
                         .expiry = true,
                         .skips_unchanged = true},
            .okapi = false,
            .filters_here = false,
            .weighing = of_a_cluster};
}

INSTANTIATE_TEST_SUITE_P(Cluster, BackendConformance, ::testing::Values(cluster()), backend_name);
INSTANTIATE_TEST_SUITE_P(Cluster, QueryConformance, ::testing::Values(cluster()), backend_name);

}  // namespace
}  // namespace braid::testing
