#pragma once

#include <string>

#include "braid/answer.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::core {
struct Vocabulary;
}

namespace braid::wire {

/// The JSON answer that every door shares (docs/answer.schema.json), with the vocabulary's other
/// names for members of its hits. Doubles keep their bits.
Value answer_to_value(const Answer& answer, const core::Vocabulary& vocabulary);
/// json::print of the same, at a fraction of the cost.
std::string print_answer(const Answer& answer, const core::Vocabulary& vocabulary);
/// The inverse, by the same vocabulary. InvalidArgument names the key.
Result<Answer> answer_from_value(const Value& json, const core::Vocabulary& vocabulary);

/// One hit, as it stands under "chunks".
Value hit_to_value(const Hit& hit);

/// The arithmetic of one score, as it stands under "receipt". A receipt read from outside may nest
/// at most 8 deep.
Value receipt_to_value(const Receipt& receipt);
Result<Receipt> receipt_from_value(const Value& json);

}  // namespace braid::wire
