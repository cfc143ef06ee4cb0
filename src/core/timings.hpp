#pragma once

#include "braid/answer.hpp"

namespace braid::core {

/// Adds every part.
inline void add(Timings& sum, const Timings& more) {
    for (double Timings::*const part :
         {&Timings::preprocess_ms, &Timings::load_ms, &Timings::embed_ms, &Timings::dense_ms,
          &Timings::sparse_ms, &Timings::fusion_ms, &Timings::hydrate_ms, &Timings::total_ms}) {
        sum.*part += more.*part;
    }
}

}  // namespace braid::core
