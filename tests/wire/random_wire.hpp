#pragma once

#include <random>
#include <string>

#include "braid/answer.hpp"
#include "braid/collection.hpp"
#include "braid/request.hpp"
#include "braid/value.hpp"

namespace braid::wire::testing {

/// Values with every field set now and then, doubles of every magnitude, texts with quotes, control
/// characters and several scripts.
Request random_request(std::mt19937_64& rng);
Answer random_answer(std::mt19937_64& rng);
Chunk random_chunk(std::mt19937_64& rng);
Schema random_schema(std::mt19937_64& rng);
Profile random_profile(std::mt19937_64& rng);

/// The value of a JSON text; a failure of the test if it is none.
Value parsed(const std::string& text);

}  // namespace braid::wire::testing
