#include "braid/wire/explain_json.hpp"

#include "braid/wire/answer_json.hpp"

namespace braid::wire {
namespace {

Array strings(const std::vector<std::string>& list) {
    return {list.begin(), list.end()};
}

}  // namespace

Value explanation_to_value(const Explanation& explanation) {
    Array legs;
    legs.reserve(explanation.legs.size());
    for (const LegStanding& leg : explanation.legs) {
        legs.emplace_back(Object{{"source", Value(leg.source)},
                                 {"score", leg.score},
                                 {"rank", leg.rank},
                                 {"depth", leg.depth}});
    }
    Object out{{"collection", Value(explanation.collection)},
               {"chunk_id", Value(explanation.chunk_id)},
               {"legs", std::move(legs)},
               {"shown", explanation.shown},
               {"hit", explanation.hit ? hit_to_value(*explanation.hit) : Value()},
               {"phrasings", strings(explanation.phrasings)},
               {"hypothetical_answer", explanation.hypothetical_answer},
               {"complete", explanation.complete},
               {"warnings", strings(explanation.warnings)},
               {"unused", strings(explanation.unused)}};
    if (explanation.query_understood) out.set("query_understood", *explanation.query_understood);
    return out;
}

Value why_not_to_value(const WhyNot& why) {
    Value change;
    if (why.change) {
        change = Object{{"key", Value(why.change->key)}, {"value", why.change->value}};
    }
    return Object{{"lost_at", why.lost_at.empty() ? Value() : Value(why.lost_at)},
                  {"reason", Value(why.reason)},
                  {"change", std::move(change)},
                  {"explanation", explanation_to_value(why.explanation)}};
}

}  // namespace braid::wire
