#pragma once

#include "braid/retrieval/work.hpp"

namespace braid::retrieval {

/// Warns of keys of the request's filter that no chunk has that the caller may see, and names the
/// nearest one that some have. Costs nothing while hits of the answer have the key; otherwise it
/// looks at all chunks of the collections once for each key.
void hint_at_unknown_keys(Work& work);

}  // namespace braid::retrieval
