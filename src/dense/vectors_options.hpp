#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "braid/dense/format.hpp"
#include "braid/types.hpp"

namespace braid::dense {

struct VectorsOptions {
    std::size_t dimension = 0;
    Metric metric = Metric::Cosine;
    Precision precision = Precision::F32;
    std::uint64_t codes_from = 1024;  // fewer vectors are searched exactly and get no codes
    std::uint64_t seed = 1;           // of the transform
};

/// How a long build is watched and stopped.
struct BuildControl {
    std::stop_token stop;
    std::function<void(double done)> progress;  // from 0 to 1, from one thread at a time
};

}  // namespace braid::dense
