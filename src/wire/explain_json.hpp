#pragma once

#include "braid/answer.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::wire {

/// `{"collection", "chunk_id", "legs": [{"source", "score", "rank", "depth"}], "shown", "hit",
/// "phrasings", "hypothetical_answer", "complete", "warnings", "unused"}`; a score, a rank, a hit
/// or an answer that there is not is null. The hit is as it stands under "chunks" of an answer, and
/// what follows it is as in that answer.
Value explanation_to_value(const Explanation& explanation);
/// The inverse.
Result<Explanation> explanation_from_value(const Value& json);

/// `{"lost_at", "reason", "change": {"key", "value"}, "explanation"}`; "lost_at" and "change" are
/// null where there is none.
Value why_not_to_value(const WhyNot& why);
/// The inverse.
Result<WhyNot> why_not_from_value(const Value& json);

}  // namespace braid::wire
