#include "backend/local_backends.hpp"

namespace braid::testing {

INSTANTIATE_TEST_SUITE_P(Local, BackendConformance, ::testing::ValuesIn(local_backends()),
                         backend_name);
/// The suite demands no more than what is promised.
INSTANTIATE_TEST_SUITE_P(Local, QueryConformance, ::testing::ValuesIn(local_backends()),
                         backend_name);
INSTANTIATE_TEST_SUITE_P(Modest, BackendConformance, ::testing::Values(modest_backend()),
                         backend_name);

}  // namespace braid::testing
