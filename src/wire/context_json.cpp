#include "braid/wire/context_json.hpp"

namespace braid::wire {
namespace {

Value passage_to_value(const ContextPassage& passage) {
    Object out{{"marker", Value(passage.marker)},
               {"collection", Value(passage.collection)},
               {"document_id", Value(passage.document_id)},
               {"chunk_ids", Array(passage.chunk_ids.begin(), passage.chunk_ids.end())}};
    if (passage.title) out.set("title", *passage.title);
    if (passage.section_title) out.set("section_title", *passage.section_title);
    out.set("source", passage.source);
    out.set("trust", passage.trust);
    out.set("text", passage.text);
    out.set("tokens", passage.tokens);
    if (passage.rank != 0) {
        out.set("rank", passage.rank);
        out.set("score", passage.score);
    }
    return out;
}

}  // namespace

Value context_to_value(const Context& context) {
    Array passages;
    passages.reserve(context.passages.size());
    for (const ContextPassage& passage : context.passages) {
        passages.push_back(passage_to_value(passage));
    }
    return Object{{"query", Value(context.query)},
                  {"text", Value(context.text)},
                  {"passages", std::move(passages)},
                  {"budget", context.budget},
                  {"tokens", context.tokens},
                  {"tokens_estimated", context.tokens_estimated},
                  {"left_out", context.left_out},
                  {"phrasings", Array(context.phrasings.begin(), context.phrasings.end())},
                  {"hypothetical_answer", context.hypothetical_answer},
                  {"complete", context.complete},
                  {"warnings", Array(context.warnings.begin(), context.warnings.end())},
                  {"unused", Array(context.unused.begin(), context.unused.end())},
                  {"latency_ms", context.timings.total_ms}};
}

}  // namespace braid::wire
