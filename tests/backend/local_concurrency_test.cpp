#include "backend/local_backends.hpp"

namespace braid::testing {

INSTANTIATE_TEST_SUITE_P(Local, BackendConformance, ::testing::ValuesIn(local_backends()),
                         backend_name);

}  // namespace braid::testing
