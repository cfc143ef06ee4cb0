#pragma once

#include "values.hpp"

namespace braid::python {

/// `Engine`, an open database, and `StopSource`, which cancels its calls.
void bind_engine(nb::module_& module);
/// `fuse`, `evaluate`, `cosine_similarity`, `euclidean_distance`, `normalize`.
void bind_tools(nb::module_& module);

}  // namespace braid::python
