#pragma once

#include "braid/fusion/presets.hpp"
#include "braid/types.hpp"

namespace braid::fusion {

/// One method as one system computes it: data, read by fuse().
struct Formula {
    /// What a list's weight does.
    enum class Weight {
        Factor,      // multiplies
        Ignored,     //
        InsideRank,  // 1 / (k + (rank + 1) / w - 1)
        Share,       // multiplies, as a share of the sum of the weights, times the number of lists
    };
    /// What a score is measured against.
    enum class Scale {
        Rank,
        MinMax,
        Sigmoid,           // of the distance from the mean in standard deviations
        ThreeSigma,        // mean - 3 std gives 0, mean + 3 std gives 1
        ThreeSigmaSample,  // same, with the standard deviation of a sample
    };
    /// The normalised value in a list of equal scores.
    enum class Equal { One, Half, Zero, OneIfPositive, Score };
    enum class Combine {
        Sum,
        Mean,         // over the lists that hold the hit
        Largest,      //
        ShareOfBest,  // the sum, divided by number of lists / k
    };

    Preset preset = Preset::None;
    FusionMethod method = FusionMethod::Rrf;
    double k = 60;
    int rank_base = 1;
    Weight weight = Weight::Factor;
    Scale scale = Scale::Rank;
    Equal equal = Equal::One;
    double equal_within = 0;  // scores that differ by less count as equal
    Combine combine = Combine::Sum;
    bool repeats = false;  // an id that stands twice in a list counts twice
};

/// Null if the preset does not have the method.
const Formula* formula_of(Preset preset, FusionMethod method) noexcept;

}  // namespace braid::fusion
