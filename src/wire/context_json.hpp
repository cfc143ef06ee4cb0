#pragma once

#include "braid/answer.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::wire {

/// `{"query", "text", "passages": [{"marker", "collection", "document_id", "chunk_ids", "title",
/// "section_title", "source", "trust", "text", "tokens", "rank", "score"}], "budget", "tokens",
/// "tokens_estimated", "left_out", "phrasings", "hypothetical_answer", "complete", "warnings",
/// "unused", "latency_ms"}`; titles, ranks and scores that a passage lacks are left out.
Value context_to_value(const Context& context);
/// The inverse; of the times there is only the total.
Result<Context> context_from_value(const Value& json);

}  // namespace braid::wire
