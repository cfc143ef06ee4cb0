#pragma once

#include "braid/answer.hpp"
#include "braid/value.hpp"

namespace braid::wire {

/// `{"collection", "chunk_id", "legs": [{"source", "score", "rank", "depth"}], "shown", "hit"}`; a
/// score, a rank or a hit that there is not is null. The hit is as it stands under "chunks" of an
/// answer.
Value explanation_to_value(const Explanation& explanation);

/// `{"lost_at", "reason", "change": {"key", "value"}, "explanation"}`; "lost_at" and "change" are
/// null where there is none.
Value why_not_to_value(const WhyNot& why);

}  // namespace braid::wire
