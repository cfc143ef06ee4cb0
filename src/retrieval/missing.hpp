#pragma once

#include "braid/retrieval/work.hpp"

namespace braid::retrieval {

/// Says in the answer which of the backend's missing capabilities it had to do without, as far as
/// the request makes a difference. `more`: another page follows.
void name_what_was_missing(Work& work, bool more);

}  // namespace braid::retrieval
