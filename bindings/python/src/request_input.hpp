#pragma once

#include <vector>

#include "braid/request.hpp"
#include "values.hpp"

namespace braid::python {

/// Memory for the vector of the thread's next request. A call that is done puts its own here: to
/// ask for memory of that size costs more than to fill it.
std::vector<float>& spare_vector() noexcept;

// Both need the GIL and raise InvalidArgument.

/// A request in JSON's words; its vector goes past JSON if it is an array.
Request read_request(nb::handle dict);

/// Each of `queries` is a text, a dict of what differs from `shared`, or None; row i of
/// `embeddings`, if that is not None, is its vector.
std::vector<Request> read_batch(nb::dict shared, nb::list queries, nb::handle embeddings);

}  // namespace braid::python
